import { expect, test } from "@jest/globals";
import { name } from "./index.ts";

test("is called placement", () => {
  expect(name).toBe("placement");
});
