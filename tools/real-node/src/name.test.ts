import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called real-node", () => {
  expect(name).toBe("real-node");
});
