import { createConnection, createServer, type AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { CodedError, defineError, explain, isRetryable, toError } from "./error.ts";
import * as catalogue from "./errors.ts";

const Lost = defineError({
  code: "EK_TEST_LOST",
  recovery: "retryable",
  message: "{what} was lost after {milliseconds} ms, and {what} it stays",
  remedy: "Look for it.",
});
const Broken = defineError({ code: "EK_TEST_BROKEN", recovery: "terminal", message: "broken", remedy: "Mend it." });

describe("an error of a catalogue", () => {
  test("fills in its fields, each wherever it stands", () => {
    const error = new Lost({ what: "the lease", milliseconds: 15 });
    expect(error.message).toBe("the lease was lost after 15 ms, and the lease it stays");
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toBeInstanceOf(Error);
  });

  test.each(["{milliseconds}", "$&", "$1", "a\\b", ""])("takes the field %j as it is", (what) => {
    expect(new Lost({ what, milliseconds: 1 }).message).toBe(`${what} was lost after 1 ms, and ${what} it stays`);
  });

  test("carries its code, its name, its recovery and its cause", () => {
    const cause = new Error("reset");
    expect(new Lost({ what: "x", milliseconds: 1 }, { cause })).toMatchObject({
      code: "EK_TEST_LOST",
      name: "EK_TEST_LOST",
      recovery: "retryable",
      cause,
    });
    expect(Lost.entry.remedy).toBe("Look for it.");
  });

  test.each([
    ["a retryable entry", new Lost({ what: "x", milliseconds: 1 }), true],
    ["a terminal entry", new Broken({}), false],
    [
      "a terminal entry with a retryable cause",
      new Broken({}, { cause: new Lost({ what: "x", milliseconds: 1 }) }),
      false,
    ],
    ["an error without a code", new Error("x"), false],
    ["something that only looks like one", { code: "EK_TEST_LOST", recovery: "retryable" }, false],
    ["nothing", undefined, false],
  ])("of %s is retried: %s", (_name, error, retried) => {
    expect(isRetryable(error)).toBe(retried);
  });
});

describe("the runtime's catalogue", () => {
  const entries = Object.entries(catalogue);

  test.each(entries)("says of %s what it is and what to do", (_name, { entry }) => {
    expect(entry.code).toMatch(/^EK_RUNTIME_[A-Z]+(_[A-Z]+)*$/);
    expect(["retryable", "terminal"]).toContain(entry.recovery);
    expect(entry.message.trim()).not.toBe("");
    expect(entry.remedy).toMatch(/^[A-Z`].{10,}\.$/s);
  });

  test("has each code once", () => {
    const codes = entries.map(([, { entry }]) => entry.code);
    expect(codes).toEqual([...new Set(codes)]);
    expect(codes.length).toBeGreaterThan(10);
  });
});

describe("explain", () => {
  test("puts the message and its causes on one line", () => {
    const error = new Broken({}, { cause: new Error("no route\n  to host", { cause: "a string" }) });
    expect(explain(error)).toBe("broken: no route to host: a string");
  });

  test("ends although the causes go in a circle", () => {
    const [one, two] = [new Error("one"), new Error("two")];
    one.cause = two;
    two.cause = one;
    expect(explain(one)).toMatch(/^one: two: one/);
    expect(explain(one).length).toBeLessThan(100);
  });

  test.each([
    ["an error without a message", new TypeError(), "TypeError"],
    ["several errors at once", new AggregateError([new Error("a"), "b"], "all failed"), "all failed: a; b"],
    ["several errors without a word of their own", new AggregateError([new Error("a"), new Error("b")]), "a; b"],
    ["a string", "plain", "plain"],
    ["a number", 42, "42"],
    ["null", null, "null"],
    ["an object", { status: 503 }, "{ status: 503 }"],
    [
      "an object without a prototype",
      Object.assign(Object.create(null) as object, { a: 1 }),
      "[Object: null prototype] { a: 1 }",
    ],
  ])("has words for %s", (_name, thrown, words) => {
    expect(explain(thrown)).toBe(words);
  });

  test("says why a connection was refused, which Node puts below an empty message", async () => {
    const server = createServer().listen(0);
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const refused = await new Promise((resolve) => {
      createConnection({ host: "localhost", port }).once("error", resolve);
    });
    expect(explain(new Broken({}, { cause: refused }))).toMatch(/^broken: .*ECONNREFUSED/);
  });
});

describe("toError", () => {
  test("keeps an error as it is", () => {
    const error = new Broken({});
    expect(toError(error)).toBe(error);
  });

  test("makes one of anything else", () => {
    expect(toError("why")).toBeInstanceOf(Error);
    expect(toError("why").message).toBe("why");
    expect(toError(undefined).message).toBe("undefined");
    expect(toError(Symbol("s")).message).toBe("Symbol(s)");
  });
});
