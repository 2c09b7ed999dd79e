import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called operator", () => {
  expect(name).toBe("operator");
});
