import { describe, expect, test } from "@jest/globals";
import { eventually } from "../testing.ts";

describe("eventually", () => {
  test("gives what the check gives once it neither throws nor gives false", async () => {
    const results = [() => false as const, () => Promise.reject(new Error("not yet")), () => "done"];
    const result: string = await eventually(() => results.shift()?.() ?? "asked too often");
    expect(result).toBe("done");
  });

  test("takes a check without a result as passed", async () => {
    await expect(eventually(() => expect(1).toBe(1))).resolves.toBeUndefined();
  });

  test("fails with the last error after its time", async () => {
    let calls = 0;
    const check = () => Promise.reject(new Error(`call ${(calls += 1)}`));
    await expect(eventually(check, 50)).rejects.toThrow(/^call [2-9]$/);
  });

  test("checks once at least, and names a check that stays false", async () => {
    await expect(eventually(() => false, 0)).rejects.toThrow(/false after 0 ms: \(\) ?=> ?false/);
  });
});
