import { describe, expect, test } from "@jest/globals";
import { partsText, placementLines } from "./placement-explanation.ts";

const answer = {
  placement: {
    ...{ workload: "Deployment/shop/web", replicas: "11", ready: "9" },
    places: [
      {
        cluster: "tokyo",
        standing: "Ready",
        replicas: "4",
        ready: "4",
        decided: "4",
        reason: "Weighted",
        note: "38 W",
      },
      { cluster: "osaka", standing: "Paused", replicas: "7", ready: "5", decided: "3", reason: "Room", note: "" },
      { cluster: "kyoto", standing: "Unreachable", decided: "3", reason: "Weighted", note: "40 W" },
    ],
  },
  decision: { id: "ab12", at: "2026-01-01T00:00:00Z", reason: "Divided", message: "web: 10 replicas: tokyo 4 (38 W)" },
  policy: { "evenkeel.io/divide": "even" },
  warnings: ["cluster kyoto is left out: no answer"],
};

describe("the explanation of a workload", () => {
  const lines = placementLines(answer);

  test("says for each cluster how many it has, why, and what differs from the decision", () => {
    expect(lines).toContain("tokyo has 4, 4 ready: Weighted (38 W).");
    expect(lines).toContain(
      "osaka has 7, 5 ready: Room; the decision gave it 3, it was changed since; the cluster is Paused now.",
    );
  });

  test("does not take a cluster that gives no answer for an empty one", () => {
    expect(lines).toContain("kyoto does not answer; it was last given 3.");
  });

  test("has the decision, the policy and the warnings", () => {
    expect(lines.join("\n")).toMatch(/Divided: web: 10 replicas[^]*snapshot ab12/);
    expect(lines.join("\n")).toMatch(/evenkeel\.io\/divide: even[^]*cluster kyoto is left out/);
  });

  test("says if no decision is remembered", () => {
    expect(placementLines({ ...answer, decision: undefined }).at(-1)).toMatch(/^No decision is remembered/);
  });
});

test("parts name the clusters that have some before or after", () => {
  const parts = [
    { cluster: "tokyo", before: "4", after: "8" },
    { cluster: "osaka", before: "0", after: "2" },
    { cluster: "kyoto", before: "0", after: "0" },
  ];
  expect([partsText(parts, "before"), partsText(parts, "after")]).toEqual(["tokyo 4, osaka 0", "tokyo 8, osaka 2"]);
  expect(partsText([], "after")).toBe("none");
});
