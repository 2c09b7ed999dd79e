import { describe, expect, test } from "@jest/globals";
import { chart } from "./plot.ts";

describe("a chart of lines", () => {
  const lines = [
    { name: "ours & theirs", values: [0, 0, 0, 12, 12, 12] },
    { name: "flat", values: [6, 6, 6, 6, 6, 6] },
  ];
  const svg = chart({ title: "Weight", unit: "", lines, across: { most: 60, unit: "min" } });
  const points = [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, all = ""]) =>
    all.split(" ").map((point) => point.split(",").map(Number)),
  );

  test("draws each line from edge to edge, with the greatest value at the top and 0 at the bottom", () => {
    expect(points).toHaveLength(2);
    for (const line of points) {
      expect(line[0]?.[0]).toBe(56);
      expect(line.at(-1)?.[0]).toBe(692);
    }
    expect(points[0]?.[0]?.[1]).toBe(304);
    expect(points[0]?.at(-1)?.[1]).toBe(72);
    expect(points[1]?.[0]?.[1]).toBe(188);
  });

  test("leaves out points that lie on the line between their neighbours", () => {
    expect(points.map((line) => line.length)).toEqual([4, 2]);
  });

  test("escapes names", () => {
    expect(svg).toContain("ours &amp; theirs");
  });
});
