import { expect, test } from "@jest/globals";
import { isPaused, PAUSED } from "./pause.ts";

test.each([
  [undefined, false],
  [{}, false],
  [{ [PAUSED]: "false" }, false],
  [{ [PAUSED]: "true" }, true],
])("an object with the annotations %j is paused: %s", (annotations, paused) => {
  expect(isPaused({ metadata: annotations ? { annotations } : {} })).toBe(paused);
});
