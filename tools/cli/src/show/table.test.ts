import { describe, expect, test } from "@jest/globals";
import { tableText, TableWriter } from "./table.ts";

const columns = [{ title: "NAME" }, { title: "SIZE", right: true }, { title: "WHY" }];
const paper = { colour: false };

describe("a table", () => {
  test("is as wide in each column as its widest cell; numbers end together and lines have no tail", () => {
    const rows = [
      ["checkout", "7", "it grows"],
      ["a", "1200", ""],
    ];
    expect(tableText(columns, rows, paper)).toBe(
      [
        "NAME       SIZE   WHY", //
        "checkout      7   it grows",
        "a          1200   -",
        "",
      ].join("\n"),
    );
  });

  test("shows a dash for what is empty, so that columns can be counted", () => {
    const [, line = ""] = tableText(columns, [["", "", ""]], paper).split("\n");
    expect(line.split(/ {2,}/)).toEqual(["-", "-", "-"]);
  });

  test("cuts the last column where the terminal ends, and nothing where there is no terminal", () => {
    const rows = [["a", "1", "x".repeat(100)]];
    const lines = tableText(columns, rows, { colour: false, width: 40 }).split("\n");
    expect(lines[1]).toHaveLength(40);
    expect(lines[1]).toMatch(/x…$/);
    expect(tableText(columns, rows, paper)).toContain("x".repeat(100));
  });

  test("leaves a few letters of the last column however narrow the terminal is", () => {
    const [, line = ""] = tableText(columns, [["n".repeat(50), "1", "y".repeat(50)]], {
      colour: false,
      width: 20,
    }).split("\n");
    expect(line).toContain("y".repeat(15));
  });

  test("aligns by what is seen when it is coloured", () => {
    const rows = [[{ text: "up", tone: "good" as const }, "1", "fine"]];
    const shown = tableText(columns, rows, { colour: true });
    expect(shown).toContain("\u001b[32mup\u001b[0m  ");
    // eslint-disable-next-line no-control-regex -- the colours are what is taken away
    expect(shown.replaceAll(/\u001b\[\d+m/g, "")).toBe(tableText(columns, rows, paper));
  });

  test("lets no control character of others through to the terminal", () => {
    const shown = tableText(columns, [["a\u001b[2J", "1\r\n2", "bell\u0007 and \u009b31m"]], paper);
    expect(shown).toContain("a [2J");
    // eslint-disable-next-line no-control-regex -- they are what must not be there
    expect(shown.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  test("counts characters, not their bytes", () => {
    const lines = tableText(
      columns,
      [
        ["größe", "1", "x"],
        ["groesse", "1", "x"],
      ],
      paper,
    ).split("\n");
    expect(lines[1]?.indexOf("1")).toBe(lines[2]?.indexOf("1"));
  });
});

describe("a table that is written as its rows come", () => {
  test("has its titles once, and columns that grow and never shrink", () => {
    const writer = new TableWriter(columns, paper);
    expect(writer.rows([["a", "1", "x"]])).toBe("NAME   SIZE   WHY\na         1   x\n");
    expect(writer.rows([["checkout", "1", "x"]])).toBe("checkout      1   x\n");
    expect(writer.rows([["a", "1", "x"]])).toBe("a             1   x\n");
  });

  test("keeps room for what is usual", () => {
    const writer = new TableWriter([{ title: "A", least: 6 }, { title: "B" }], paper);
    expect(writer.rows([["x", "y"]])).toBe("A        B\nx        y\n");
  });
});
