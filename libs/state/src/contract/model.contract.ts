import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { CodedError } from "@evenkeel/runtime";
import type { Replicas } from "./replicas.ts";
import type { State, Version, WriteTerms } from "../state.ts";

/** What a client may do next. `expected` picks from the versions that were ever seen, so that stale ones come up. */
interface Step {
  readonly by: "one" | "other";
  readonly what: "put" | "delete" | "raise" | "get" | "list" | "forget";
  readonly name: "a" | "b";
  readonly expected: "any" | "absent" | number;
  readonly fence: { readonly scope: "x" | "y"; readonly token: bigint } | "unfenced";
}

const step: fc.Arbitrary<Step> = fc.record({
  by: fc.constantFrom("one", "other"),
  what: fc.constantFrom("put", "put", "put", "delete", "raise", "get", "list", "forget"),
  name: fc.constantFrom("a", "b"),
  expected: fc.oneof(fc.constantFrom("any" as const, "absent" as const), fc.nat(3)),
  fence: fc.oneof(
    fc.constant("unfenced" as const),
    fc.record({ scope: fc.constantFrom("x", "y"), token: fc.constantFrom(0n, 1n, 2n, 9n, 10n, 2n ** 60n) }),
  ),
});

/** The contract of records and tokens, with nothing else in the way. */
class Model {
  readonly records = new Map<string, { version: Version; value: unknown }>();
  readonly tokens = new Map<string, bigint>();

  /** The code with which a write is refused. */
  refusal({ what, name, fence }: Step, expected: WriteTerms["expected"]): string | undefined {
    if (fence !== "unfenced") {
      if (fence.token < (this.tokens.get(fence.scope) ?? 0n)) return "EK_STATE_FENCED";
      this.tokens.set(fence.scope, fence.token);
    }
    if (what === "raise" || what === "forget" || expected === "any") return undefined;
    const met = expected === "absent" ? !this.records.has(name) : this.records.get(name)?.version === expected;
    return met ? undefined : "EK_STATE_CONFLICT";
  }
}

export function modelContract(given: () => Replicas): void {
  test("each of two clients' random reads, writes and refusals is as the model says", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const { one, other } = given();
        const object = randomUUID();
        const model = new Model();
        const versions: Version[] = ["v-neverwrittenneve"];
        for (const [index, next] of steps.entries()) {
          await take(next, index, next.by === "one" ? one : other, object, model, versions);
        }
        const left = [...model.records].map(([name, record]) => ({ name, ...record }));
        expect(await other.records.list(object)).toEqual(left.sort((a, b) => (a.name < b.name ? -1 : 1)));
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  test("concurrent read-modify-writes lose nothing", async () => {
    const { one, other } = given();
    const object = randomUUID();
    await one.records.put(object, "count", 0, { expected: "absent", fence: "unfenced" });
    const clients = [one, other, one, other];
    await Promise.all(clients.map((state) => addOne(state, object, 25)));
    expect((await one.records.get(object, "count"))?.value).toBe(100);
  }, 30_000);
}

async function take(
  next: Step,
  index: number,
  state: State,
  object: string,
  model: Model,
  versions: Version[],
): Promise<void> {
  const { records } = state;
  const { what, name, fence } = next;
  const expected = typeof next.expected === "number" ? (versions.at(-1 - next.expected) ?? "any") : next.expected;
  if (what === "get") {
    const record = model.records.get(name);
    expect(await records.get(object, name)).toEqual(record && { name, ...record });
    return;
  }
  if (what === "list") {
    expect((await records.list(object)).map((record) => record.name)).toEqual([...model.records.keys()].sort());
    return;
  }
  if (what === "raise" && fence === "unfenced") return;
  const refusal = model.refusal(next, expected);
  const outcome = await settled(async () => {
    if (what === "put") return records.put(object, name, index, { expected, fence });
    if (what === "delete") return records.delete(object, name, { expected, fence });
    if (what === "forget") return state.forget(object, fence);
    return fence === "unfenced" ? undefined : records.raise(object, fence);
  });
  expect(outcome.code).toBe(refusal);
  if (refusal !== undefined) return;
  if (what === "put") {
    const version = outcome.value as Version;
    versions.push(version);
    model.records.set(name, { version, value: index });
  }
  if (what === "delete") expect(outcome.value).toBe(model.records.delete(name));
  if (what === "forget") model.records.clear();
}

async function settled(work: () => Promise<unknown>): Promise<{ value?: unknown; code?: string | undefined }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof CodedError) return { code: error.code };
    throw error;
  }
}

/** Raises the count `times` times, reading again after each conflict. */
async function addOne({ records }: State, object: string, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const record = await records.get(object, "count");
    if (!record) throw new Error("the count is gone");
    const terms = { expected: record.version, fence: "unfenced" } as const;
    const { code } = await settled(() => records.put(object, "count", Number(record.value) + 1, terms));
    if (code === undefined) done++;
    else expect(code).toBe("EK_STATE_CONFLICT");
  }
}
