import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called testkit", () => {
  expect(name).toBe("testkit");
});
