import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called forward", () => {
  expect(name).toBe("forward");
});
