import { describe, expect, test } from "@jest/globals";
import { ControlPlaneError } from "./errors.ts";
import { waitUntil } from "./wait.ts";

describe("waiting for a condition", () => {
  test("ends when it holds, and takes a rejection for a reason to look again", async () => {
    const looks = ["no listener", new Error("refused"), undefined];
    const whyNot = (): string | undefined => {
      const look = looks.shift();
      if (look instanceof Error) throw look;
      return look;
    };
    await waitUntil("it serves", whyNot, { deadlineMs: 10_000, everyMs: 1 });
    expect(looks).toEqual([]);
  });

  test("says after the deadline what it waited for and what it saw last", async () => {
    const wait = waitUntil("it serves", () => "503", { deadlineMs: 0 });
    await expect(wait).rejects.toMatchObject({ code: "EK_CLUSTER_DEADLINE" });
    await expect(wait).rejects.toThrow("it serves: not after 0 s; last seen: 503");
  });

  test("ends at once when waiting cannot help", async () => {
    const gone = new ControlPlaneError("EK_CLUSTER_COMPONENT_EXITED", "etcd ended");
    const wait = waitUntil("it serves", () => Promise.reject(gone), { deadlineMs: 3_600_000 });
    await expect(wait).rejects.toBe(gone);
  });
});
