import { kubeErrors, type Service } from "@evenkeel/kube";
import type { ObjectContext } from "@evenkeel/operator";
import { describe, expect, test } from "@jest/globals";
import type { AutoscalerRef } from "../binding.ts";
import { stateDecider } from "../decide/state-decider.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { BUSY, type Changes, checkout, IDLE, NOON, quietService, secondsAgo } from "../testing/quiet-service.ts";
import { stored } from "../testing/shown-service.ts";
import type { Autoscalers } from "./autoscalers.ts";
import { Executor, type ExecutorOptions, type Outcome } from "./executor.ts";
import { AutoscalerForbidden } from "./errors.ts";
import { RestoreWorkload } from "./release/restore-workload.ts";
import { PausedScaledObjects } from "./paused-scaled-objects.ts";

const keda = (name: string): AutoscalerRef => ({ type: "keda", name });

/** No pods, no replicas and no requests. */
const ASLEEP: Changes = { stage: { state: "Zero" }, pods: { ready: 0 }, replicas: 0 };
const LISTENING: Changes = { stage: { state: "Guard", purpose: "sleep" } };

/** One leader, and what it does about autoscalers, in order. */
class Leader {
  readonly done: string[] = [];
  readonly pauses: PausedScaledObjects;
  /** ScaledObjects that there are. */
  readonly present = new Set(["old", "new"]);
  /** By call, what it fails with. */
  readonly failures = new Map<string, Error>();
  slept: "slept" | "changed" = "slept";
  readonly deadline = new AbortController();
  readonly term = new AbortController();
  readonly #executor: Executor;

  constructor() {
    this.pauses = new PausedScaledObjects({
      write: (_, status) => {
        const recorded = "pausedScaledObject" in status ? status.pausedScaledObject : undefined;
        return this.#do(`record ${recorded ?? ""}`, undefined);
      },
    });
    const call = <T extends string>(verb: string, { name }: AutoscalerRef, done: T) =>
      this.#do<T | "absent">(`${verb} ${name}`, this.present.has(name) ? done : "absent");
    const autoscalers: Pick<Autoscalers, "pause" | "resume" | "allowZero"> = {
      pause: (_, autoscaler) => call("pause", autoscaler, "paused"),
      resume: (_, autoscaler, options) => call(options?.active === true ? "activate" : "resume", autoscaler, "resumed"),
      allowZero: async (_, autoscaler) => {
        await call("allowZero", autoscaler, "allowZero");
      },
    };
    const scales = {
      wake: () => this.#do("wake", "woken" as const),
      sleep: () => this.#do("sleep", this.slept),
    };
    const nothing = () => Promise.resolve();
    this.#executor = new Executor({
      path: { useOf: () => "redirect", leave: nothing, close: nothing },
      routes: { leave: nothing },
      scales,
      autoscalers,
      leftovers: { clean: () => Promise.resolve([]) },
      restoreWorkload: new RestoreWorkload({ scales, autoscalers }),
      scaledObjects: { keep: nothing },
      resolvers: () => [],
      terminatingResolvers: () => new Set(),
      activity: () => Promise.resolve(quietService().activity),
      hasWoken: () => Promise.resolve(false),
      woken: () => undefined,
    } as unknown as ExecutorOptions);
  }

  /** Carries out what is decided for a service in that world. */
  async reconcile(
    changes: Changes,
    autoscaler: AutoscalerRef | null,
    status: ElastiServiceStatus = {},
  ): Promise<Outcome> {
    const snapshot = quietService(changes);
    const decision = { ...stateDecider.decide(snapshot), id: "1", at: NOON, dryRun: snapshot.dryRun };
    const work = {
      object: stored("checkout", { status }),
      service: {} as Service,
      binding: { ...checkout, autoscaler },
      ports: [],
      former: undefined,
      pauses: this.pauses,
      since: 0,
      snapshot,
      decision,
    };
    const log = { info: () => undefined, warn: () => undefined };
    const term = { held: () => true, signal: this.term.signal };
    const context = { signal: this.deadline.signal, log, term };
    return this.#executor.run(work, context as unknown as ObjectContext);
  }

  /** The current record, for a reader of that status. */
  paused(status: ElastiServiceStatus = {}) {
    return this.pauses.of(stored("checkout", { status }));
  }

  /** The ScaledObject that must not keep the mark of a wake. */
  named(status: ElastiServiceStatus = {}) {
    return this.pauses.formerlyNamed(stored("checkout", { status }));
  }

  #do<T>(what: string, outcome: T): Promise<T> {
    this.done.push(what);
    const failure = this.failures.get(what);
    return failure ? Promise.reject(failure) : Promise.resolve(outcome);
  }
}

describe("a workload that is scaled to zero", () => {
  test("has its ScaledObject paused before, which is on record before that", async () => {
    const leader = new Leader();
    expect(await leader.reconcile(LISTENING, keda("old"))).toMatchObject({ done: true });
    expect(leader.done).toEqual(["record old", "pause old", "sleep"]);
    expect(leader.paused()).toBe("old");
  });

  test("is on record as asleep if it has none to pause", async () => {
    const leader = new Leader();
    await leader.reconcile(LISTENING, { type: "hpa", name: "old" });
    expect(leader.done).toEqual(["sleep"]);
    expect(leader.paused()).toBe("");
  });

  test("and was changed meanwhile leaves nothing paused and nothing recorded", async () => {
    const leader = new Leader();
    leader.slept = "changed";
    expect(await leader.reconcile(LISTENING, keda("old"))).toMatchObject({ done: false });
    expect(leader.done).toEqual(["record old", "pause old", "sleep", "resume old"]);
    expect(leader.paused()).toBeNull();
  });
});

test("a sleep that conflicts with an edit is not a failure, ends the reconcile, and leaves nothing paused", async () => {
  const leader = new Leader();
  const overtaken = new kubeErrors.ActOvertaken({ object: "shop/checkout", why: "changed" });
  leader.failures.set("sleep", overtaken);
  expect(await leader.reconcile(LISTENING, keda("old"))).toEqual({
    ...{ done: false, isFormerRestored: true, route: null, error: overtaken },
  });
  expect(leader.done).toEqual(["record old", "pause old", "sleep", "resume old"]);
  expect(leader.paused()).toBeNull();
});

describe("an act that fails after the signal aborted", () => {
  const hung = new kubeErrors.Timeout({ call: "PATCH /scale", milliseconds: 10_000 });

  test("at the deadline is a failure that names the call", async () => {
    const leader = new Leader();
    leader.failures.set("wake", hung);
    leader.deadline.abort(new Error("too late"));
    const outcome = await leader.reconcile({ ...ASLEEP, activity: { pending: 1 } }, null);
    expect(outcome).toMatchObject({ done: false, error: hung, failure: expect.stringContaining("PATCH /scale") });
  });

  test("at the end of the term has no outcome", async () => {
    const leader = new Leader();
    leader.failures.set("wake", hung);
    const ended = new Error("the term has ended");
    leader.term.abort(ended);
    await expect(leader.reconcile({ ...ASLEEP, activity: { pending: 1 } }, null)).rejects.toBe(ended);
  });
});

describe("an autoscaler that is named while the workload sleeps", () => {
  const status: ElastiServiceStatus = { pausedScaledObject: "old" };

  test("is paused after the one before is resumed", async () => {
    const leader = new Leader();
    await leader.reconcile(ASLEEP, keda("new"), status);
    expect(leader.done).toEqual(["resume old", "record new", "pause new"]);
    expect(leader.paused(status)).toBe("new");
    await leader.reconcile(ASLEEP, keda("new"), status);
    expect(leader.done).toHaveLength(3);
  });

  test("is paused once it exists", async () => {
    const leader = new Leader();
    leader.present.delete("new");
    await leader.reconcile(ASLEEP, keda("new"), status);
    leader.done.length = 0;
    await leader.reconcile(ASLEEP, keda("new"), status);
    leader.present.add("new");
    await leader.reconcile(ASLEEP, keda("new"), status);
    await leader.reconcile(ASLEEP, keda("new"), status);
    expect(leader.done).toEqual(["pause new", "pause new"]);
  });

  test("is paused too if there was none before, or if the one before had been taken away", async () => {
    const leader = new Leader();
    await leader.reconcile(ASLEEP, null, status);
    expect(leader.done).toEqual(["resume old"]);
    await leader.reconcile(ASLEEP, keda("new"), status);
    expect(leader.done).toEqual(["resume old", "record new", "pause new"]);
  });

  test("is not paused if this program did not scale the workload to zero, because it may wake the workload", async () => {
    const leader = new Leader();
    await leader.reconcile(ASLEEP, keda("new"));
    expect(leader.done).toEqual([]);
  });

  test("by a spec that cannot be understood changes nothing", async () => {
    const leader = new Leader();
    await leader.reconcile({ ...ASLEEP, specFault: "spec.autoscaler.type: no such type" }, null, status);
    expect(leader.done).toEqual(["pause old"]);
    expect(leader.paused(status)).toBe("old");
  });

  test("waits until the one before is resumed, unless that can never be", async () => {
    const leader = new Leader();
    leader.failures.set("resume old", new Error("reset"));
    expect(await leader.reconcile(ASLEEP, keda("new"), status)).toMatchObject({ done: true, failure: "reset" });
    expect(leader.done).toEqual(["resume old"]);
    expect(leader.paused(status)).toBe("old");
    leader.failures.set("resume old", new AutoscalerForbidden({ scaledObject: "shop/old" }));
    await leader.reconcile(ASLEEP, keda("new"), status);
    expect(leader.done).toEqual(["resume old", "resume old", "record new", "pause new"]);
  });
});

describe("a workload that wakes", () => {
  const status: ElastiServiceStatus = { pausedScaledObject: "old" };
  const waking: Changes = { ...ASLEEP, triggers: [BUSY] };

  test("has its ScaledObject resumed, and the record is removed", async () => {
    const leader = new Leader();
    await leader.reconcile(waking, keda("old"), status);
    expect(leader.done).toEqual(["wake", "activate old"]);
    expect(leader.paused(status)).toBeNull();
  });

  test("has both the paused ScaledObject and the one in the spec resumed", async () => {
    const leader = new Leader();
    await leader.reconcile(waking, keda("new"), status);
    expect(leader.done).toEqual(["wake", "activate new", "resume old"]);
    expect(leader.paused(status)).toBeNull();
  });

  test("lets its ScaledObject scale to zero again once requests go to the pods, and not before sleep", async () => {
    const leader = new Leader();
    const guarded: Changes = { stage: { state: "Guard", purpose: "safety" } };
    expect(await leader.reconcile(guarded, keda("old"))).toMatchObject({ done: true });
    expect(leader.done).toEqual(["allowZero old"]);
    await leader.reconcile({ stage: { state: "Guard", purpose: "sleep" }, activity: { requests: 41 } }, keda("old"));
    expect(leader.done).toEqual(["allowZero old"]);
  });

  test("and fails to resume its ScaledObject pauses nothing again, because it may have replicas", async () => {
    const leader = new Leader();
    leader.failures.set("activate new", new Error("reset"));
    expect(await leader.reconcile(waking, keda("new"), status)).toMatchObject({ done: false, failure: "reset" });
    expect(leader.done).toEqual(["wake", "activate new", "resume old"]);
    expect(leader.paused(status)).toBe("");
  });
});

describe("an autoscaler that the spec no longer names after a wake", () => {
  const status: ElastiServiceStatus = { pausedScaledObject: "old" };
  const starting: Changes = { stage: { state: "Wake" }, pods: { ready: 0, starting: 1 }, replicas: 1 };
  const guarded: Changes = { stage: { state: "Guard", purpose: "safety", since: secondsAgo(0) } };

  const woken = async () => {
    const leader = new Leader();
    await leader.reconcile({ ...ASLEEP, triggers: [BUSY] }, keda("old"), status);
    leader.done.length = 0;
    return leader;
  };

  test.each<[string, Changes, AutoscalerRef | null]>([
    ["while pods start, and another is named", starting, keda("new")],
    ["while pods start, and none is named", starting, null],
    ["while requests still pass the resolver", guarded, keda("new")],
    ["and one is named that acts by itself at zero", guarded, { type: "hpa", name: "new" }],
  ])("may scale to zero again, once: %s", async (_, changes, autoscaler) => {
    const leader = await woken();
    expect(await leader.reconcile(changes, autoscaler)).toMatchObject({ done: true });
    expect(leader.done).toEqual(["allowZero old"]);
    await leader.reconcile(changes, autoscaler);
    expect(leader.done).toEqual(["allowZero old"]);
  });

  test("is released later if that fails, and if changes are blocked meanwhile", async () => {
    const leader = await woken();
    const blocked = { reason: "Paused" as const, message: "the annotation is set" };
    await leader.reconcile({ ...starting, blocked }, keda("new"));
    expect(leader.done).toEqual([]);
    leader.failures.set("allowZero old", new Error("reset"));
    expect(await leader.reconcile(starting, keda("new"))).toMatchObject({ failure: "reset" });
    leader.failures.clear();
    await leader.reconcile(starting, keda("new"));
    expect(leader.done).toEqual(["allowZero old", "allowZero old"]);
  });

  test("may scale to zero again although the resolver restarted since", async () => {
    const leader = new Leader();
    const recorded: ElastiServiceStatus = { scaledObject: "old" };
    await leader.reconcile(starting, keda("new"), recorded);
    expect(leader.done).toEqual(["allowZero old"]);
    expect(leader.named(recorded)).toBe("new");
  });

  test("stays on record while the right to patch it is missing", async () => {
    const leader = await woken();
    leader.failures.set("allowZero old", new AutoscalerForbidden({ scaledObject: "shop/old" }));
    expect(await leader.reconcile(starting, keda("new"))).toMatchObject({ done: true });
    expect(leader.named()).toBe("old");
    leader.failures.clear();
    await leader.reconcile(starting, keda("new"));
    expect(leader.done).toEqual(["allowZero old", "allowZero old"]);
    expect(leader.named()).toBe("new");
  });

  test("stays as it is while the spec is invalid", async () => {
    const leader = await woken();
    await leader.reconcile({ ...starting, specFault: "spec.autoscaler.type: no such type" }, null);
    expect(leader.done).toEqual([]);
  });
});

describe("a record that a process has left behind", () => {
  const status: ElastiServiceStatus = { pausedScaledObject: "old" };

  test("of a workload that serves again is worked off", async () => {
    const leader = new Leader();
    await leader.reconcile({ stage: { state: "Serve" }, triggers: [BUSY] }, keda("old"), status);
    expect(leader.done).toEqual(["resume old"]);
    expect(leader.paused(status)).toBeNull();
  });

  test("of a pause that may not have been made has it made", async () => {
    const leader = new Leader();
    await leader.reconcile(ASLEEP, keda("old"), status);
    expect(leader.done).toEqual(["pause old"]);
  });

  test("stays while the last pods terminate, because others may start", async () => {
    const leader = new Leader();
    const leaving: Changes = { stage: { state: "Guard" }, pods: { ready: 0, leaving: 1 }, triggers: [IDLE] };
    await leader.reconcile(leaving, keda("old"), status);
    expect(leader.done).toEqual([]);
    await leader.reconcile(leaving, keda("new"), status);
    expect(leader.done).toEqual(["allowZero old", "resume old"]);
    await leader.reconcile(ASLEEP, keda("new"), status);
    expect(leader.done).toEqual(["allowZero old", "resume old", "record new", "pause new"]);
  });
});
