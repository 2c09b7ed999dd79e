import type { IncomingMessage } from "node:http";
import { eventually } from "@evenkeel/runtime/testing";
import { FaultPlan } from "@evenkeel/sim";
import type { ServiceProcess, World } from "@evenkeel/testkit";
import { expect } from "@jest/globals";
import { hotSpot, load, policy, type PodList, read, statusOf } from "./hot-spot.ts";

/** Evictions of an hour. */
export const BUDGET = 2;

const isEviction = ({ method, url = "" }: Pick<IncomingMessage, "method" | "url">): boolean =>
  method === "POST" && url.includes("/eviction");

/**
 * A hot node, a policy that would move several pods, and an hour in which two may be. The API server counts evictions.
 */
export class Audited implements AsyncDisposable {
  readonly faults = new FaultPlan();
  /** Those that the API server took up, by the address of the pod. */
  readonly evictions: string[] = [];
  world!: World;
  /** Called when an eviction is certain to be made, and its answer is not sent yet. */
  onEviction: () => void = () => undefined;
  readonly #arrival = Promise.withResolvers<undefined>();
  #before: readonly string[] = [];

  static async start(): Promise<Audited> {
    const audited = new Audited();
    audited.world = await hotSpot({
      faults: (request, response) => {
        if (isEviction(request)) audited.#arrival.resolve(undefined);
        return audited.faults.faults(request, response);
      },
      audit: (request) => {
        if (!isEviction(request)) return;
        audited.evictions.push(request.url);
        audited.onEviction();
      },
    });
    const spec = { basis: "requests", dryRun: false, targetSigma: 0.01, maxEvictionsPerMinute: 100 };
    load(audited.world, policy("default", spec));
    load(audited.world, {
      apiVersion: "rebalancer.dev/v1",
      kind: "WorkloadSLO",
      metadata: { name: "hour", namespace: "default" },
      spec: { maxDisruptionsPerHour: BUDGET },
    });
    audited.#before = await audited.#uids();
    return audited;
  }

  /** Resolves when an eviction has reached the API server, before any fault that delays it: it is recorded by then. */
  async arrival(): Promise<void> {
    await this.#arrival.promise;
  }

  /** Pods that were there at the start and are gone. */
  async gone(): Promise<number> {
    const present = await this.#uids();
    return this.#before.filter((uid) => !present.includes(uid)).length;
  }

  async reason(reason: string): Promise<void> {
    await eventually(async () => {
      const ready = expect.objectContaining({ type: "Ready", reason }) as unknown;
      expect(await statusOf(this.world, "default")).toMatchObject({
        status: { conditions: expect.arrayContaining([ready]) as unknown },
      });
    }, 60_000);
  }

  /** An eviction was made, and the status tells of it. */
  async executed(): Promise<void> {
    await eventually(async () => {
      const { status } = (await statusOf(this.world, "default")) as {
        status?: { plan?: { lastExecutionTime?: string } };
      };
      expect(status?.plan?.lastExecutionTime).toBeDefined();
    }, 60_000);
  }

  /** Never one more than the budget: neither asked for nor gone. */
  async keptBudget(): Promise<void> {
    expect(await this.gone()).toBeLessThanOrEqual(BUDGET);
    expect(this.evictions.length).toBeLessThanOrEqual(BUDGET);
    expect(new Set(this.evictions).size).toBe(this.evictions.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }

  async #uids(): Promise<readonly string[]> {
    return (await read<PodList>(this.world, "api/v1/namespaces/default/pods")).items.map(
      ({ metadata }) => metadata.uid,
    );
  }
}

export async function kill(process: ServiceProcess): Promise<void> {
  process.signal("SIGKILL");
  await process.exit;
}
