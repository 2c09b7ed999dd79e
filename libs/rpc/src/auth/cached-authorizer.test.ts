import { expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { Authorization, Authorizer } from "./authorizer.ts";
import { CachedAuthorizer } from "./cached-authorizer.ts";

const pod = { group: "", resource: "pods", namespace: "shop", name: "checkout-0" };
const { signal } = new AbortController();

/** Answers as told, and counts how often it is asked. */
class Asked implements Authorizer {
  count = 0;
  answer: () => Promise<Authorization> = () => Promise.resolve({ allowed: true, user: "planner" });

  authorize(): Promise<Authorization> {
    this.count += 1;
    return this.answer();
  }
}

test("a yes is remembered for a while, and then asked for again", async () => {
  const [asked, clock] = [new Asked(), new FakeClock()];
  const cached = new CachedAuthorizer(asked, { clock, allowedFor: 10_000 });
  await cached.authorize("a", "drain", pod, signal);
  await clock.advance(9_999);
  await cached.authorize("a", "drain", pod, signal);
  expect(asked.count).toBe(1);
  asked.answer = () => Promise.resolve({ allowed: false, user: "planner" });
  await clock.advance(1);
  await expect(cached.authorize("a", "drain", pod, signal)).resolves.toEqual({ allowed: false, user: "planner" });
});

test("a no is remembered for a shorter while", async () => {
  const [asked, clock] = [new Asked(), new FakeClock()];
  asked.answer = () => Promise.resolve({ allowed: false });
  const cached = new CachedAuthorizer(asked, { clock, deniedFor: 2000 });
  await cached.authorize("a", "drain", pod, signal);
  await clock.advance(1999);
  await cached.authorize("a", "drain", pod, signal);
  expect(asked.count).toBe(1);
  await clock.advance(1);
  await cached.authorize("a", "drain", pod, signal);
  expect(asked.count).toBe(2);
});

test.each([
  ["another token", "b", "drain", pod],
  ["another verb", "a", "wake", pod],
  ["another object", "a", "drain", { ...pod, name: "checkout-1" }],
  ["another subresource", "a", "drain", { ...pod, subresource: "eviction" }],
])("an answer is not used for %s", async (_name, token, verb, object) => {
  const asked = new Asked();
  const cached = new CachedAuthorizer(asked, { clock: new FakeClock() });
  await cached.authorize("a", "drain", pod, signal);
  await cached.authorize(token, verb, object, signal);
  expect(asked.count).toBe(2);
});

test("a failure is not remembered", async () => {
  const asked = new Asked();
  const cached = new CachedAuthorizer(asked, { clock: new FakeClock() });
  asked.answer = () => Promise.reject(new Error("away"));
  await expect(cached.authorize("a", "drain", pod, signal)).rejects.toThrow("away");
  asked.answer = () => Promise.resolve({ allowed: true, user: "planner" });
  await expect(cached.authorize("a", "drain", pod, signal)).resolves.toMatchObject({ allowed: true });
});

test("no more answers than the capacity are remembered, and the oldest go first", async () => {
  const asked = new Asked();
  const cached = new CachedAuthorizer(asked, { clock: new FakeClock(), capacity: 2 });
  for (const token of ["a", "b", "c", "b", "c"]) await cached.authorize(token, "drain", pod, signal);
  expect(asked.count).toBe(3);
  await cached.authorize("a", "drain", pod, signal);
  expect(asked.count).toBe(4);
});
