import { expect, test } from "@jest/globals";
import { decider } from "./decide.ts";

test("holds while the load is unknown", () => {
  expect(decider.decide({ at: "2026-01-01T00:00:00Z", load: null })).toMatchObject({
    action: "hold",
    reason: "NoData",
  });
});
