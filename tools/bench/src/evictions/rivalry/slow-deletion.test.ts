import { expect, test } from "@jest/globals";
import { delayed } from "./slow-deletion.ts";

test("only the stage that deletes gets a delay", () => {
  const stages =
    "kind: Stage\nspec:\n  next:\n    statusTemplate: x\n---\nkind: Stage\nspec:\n  next:\n    delete: true\n";
  expect(delayed(stages, 30_000).split("---")[1]).toContain("delay:\n    durationMilliseconds: 30000\n  next:");
  expect(delayed(stages, 30_000).split("---")[0]).toBe(stages.split("---")[0]);
  expect(() => delayed("kind: Stage", 1)).toThrow();
});
