import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import type { Identity } from "../identity.ts";
import { TokenUsers } from "./token-users.ts";

const robot: Identity = { user: "robot", uid: undefined, groups: [], extra: {} };

function jwt(exp: number): string {
  return ["{}", JSON.stringify({ exp }), "s"].map((part) => Buffer.from(part).toString("base64url")).join(".");
}

describe("the user of a token", () => {
  test("is asked for once in ten seconds, however many requests come at once", async () => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const users = new TokenUsers({ clock, identify: (token) => (asked.push(token), Promise.resolve(robot)) });
    expect(await Promise.all([users.userOf("a"), users.userOf("a")])).toEqual([robot, robot]);
    await clock.advance(9_999);
    await users.userOf("a");
    expect(asked).toEqual(["a"]);
    await clock.advance(1);
    await users.userOf("a");
    expect(asked).toEqual(["a", "a"]);
  });

  test("is unknown from the moment that the token states, without a question", async () => {
    const clock = new FakeClock();
    let asked = 0;
    const users = new TokenUsers({ clock, identify: () => ((asked += 1), Promise.resolve(robot)) });
    const token = jwt(clock.now() / 1000 + 3);
    expect(await users.userOf(token)).toEqual(robot);
    await clock.advance(3_000);
    expect(await users.userOf(token)).toBeUndefined();
    expect(asked).toBe(1);
  });

  test("is not asked for while many questions are open: watches with invented tokens must not flood the API server", async () => {
    let open = 0;
    const answers: (() => void)[] = [];
    const identify = async () => {
      open += 1;
      await new Promise<void>((resolve) => answers.push(resolve));
      return robot;
    };
    const users = new TokenUsers({ clock: new FakeClock(), identify });
    const asked = Array.from({ length: 1_000 }, async (_, index) => users.userOf(`token-${index}`));
    const settled = Promise.allSettled(asked);
    expect(open).toBe(100);
    for (const answer of answers) answer();
    expect((await settled).filter(({ status }) => status === "fulfilled")).toHaveLength(100);
    void users.userOf("another");
    expect(open).toBe(101);
  });

  test("is asked for again after a failure", async () => {
    let fails = true;
    const identify = () => (fails ? Promise.reject(new Error("no API server")) : Promise.resolve(robot));
    const users = new TokenUsers({ clock: new FakeClock(), identify });
    await expect(users.userOf("a")).rejects.toThrow("no API server");
    fails = false;
    expect(await users.userOf("a")).toEqual(robot);
  });
});
