import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called cli", () => {
  expect(name).toBe("cli");
});
