import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called dashboard", () => {
  expect(name).toBe("dashboard");
});
