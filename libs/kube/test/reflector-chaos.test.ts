import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { silentLog } from "@evenkeel/runtime/testing";
import { systemClock } from "@evenkeel/runtime";
import { kubeconfigFor } from "@evenkeel/testkit";
import type { Change } from "../src/cache/store.ts";
import { connectKube, Reflector, Store } from "../src/index.ts";
import { ChaosServer } from "./chaos-server.ts";
import { seeded } from "./random.ts";
import { type Thing, Truth } from "./truth.ts";

const EVENTS = 20_000;
const SEEDS = 20;

/** The reflector's constants, a hundredth to a thousandth of what they are in production. */
const timing = {
  watchSeconds: [3, 6],
  silence: 150,
  slice: 4,
  backoff: { base: 5, cap: 100, healthyAfter: 500, free: { perSecond: 20, burst: 10 } },
} as const;

const type = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evenkeel-chaos-"));
});
afterAll(() => rm(folder, { recursive: true }));

const faultsMet = new Map<string, number>();

describe("a reflector on a server with every kind of fault", () => {
  test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
    "has the truth after 20,000 random events, by few requests (seed %i)",
    async (seed) => {
      const random = seeded(seed);
      const truth = new Truth(random);
      for (let write = 0; write < 500; write++) truth.happen();
      const server = new ChaosServer(truth, random, seed % 2 === 0);
      const client = await connect(await server.listen(), seed, random);
      const log = silentLog();
      const store = new Store<Thing>({ log });
      const mirror = new Mirror(store, truth);
      const resource = client.resource<Thing>(type);
      const reflector = new Reflector({
        ...{ name: "things", resource, store, log, timing, clock: systemClock, random, pageSize: 50 },
      });
      const began = performance.now();
      reflector.start();
      for (let event = 0; event < EVENTS; event++) {
        truth.happen();
        // About a second in total, in which watches start and end.
        if (event % 25 === 0) await delay(1);
      }
      await mirror.isTrue();
      const seconds = (performance.now() - began) / 1000;

      expect(mirror.faults).toEqual([]);
      expect(contentOf(store.values())).toEqual(contentOf(truth.objects.values()));
      // Watches without a wait, waits of at least half the cap after several failures, and the short waits after each
      // time without failures.
      const sessions = 10 + seconds * (20 + 1000 / 50 + 6 / 0.5);
      expect(server.requests.watch).toBeLessThan(sessions);
      // Each session may list, in pages, and the client may retry each page.
      expect(server.requests.list).toBeLessThan(sessions * 8);

      await reflector.stop();
      await client.stop();
      const { watch, list } = server.requests;
      truth.happen();
      await turn();
      expect(server.requests).toEqual({ watch, list });
      for (const [fault, count] of server.faults) faultsMet.set(fault, (faultsMet.get(fault) ?? 0) + count);
      await server.close();
    },
    60_000,
  );

  test("has seen each kind of fault", () => {
    expect([...faultsMet.keys()].sort()).toEqual(
      [
        ...["429", "500", "410", "hang up", "not Kubernetes", "reset connection", "slow answer", "slow watch"],
        ...["cut", "cut within a line", "half open", "garbage", "in-band 410", "in-band 500", "clean end"],
        ...["state cut short", "expired page", "too large a version", "list cut short"],
      ].sort(),
    );
  });
});

async function connect(server: string, seed: number, random: () => number) {
  const kubeconfig = join(folder, `kubeconfig-${seed}`);
  await writeFile(kubeconfig, kubeconfigFor(server));
  const settings = {
    ...{ kubeconfig, kubeContext: undefined, kubeDeadline: 2000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 },
  };
  // The random function shortens the client's waits between retries.
  return connectKube({ settings, env: {}, userAgent: "chaos", random: () => random() / 20 });
}

/** Builds the content from the changes alone, and records each change that contradicts the ones before. */
class Mirror {
  readonly faults: string[] = [];
  readonly #objects = new Map<string, Thing>();
  readonly #truth: Truth;
  readonly #store: Store<Thing>;
  #onChange: () => void = () => undefined;

  constructor(store: Store<Thing>, truth: Truth) {
    this.#store = store;
    this.#truth = truth;
    store.subscribe((change) => {
      this.#follow(change);
      this.#onChange();
    });
  }

  /** Resolves when store, mirror and truth are the same. */
  isTrue(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = () => {
        if (this.#isSame()) resolve();
      };
      this.#onChange();
    });
  }

  #isSame(): boolean {
    const { objects } = this.#truth;
    if (this.#objects.size !== objects.size || this.#store.size !== objects.size) return false;
    for (const { metadata } of objects.values()) {
      const key = `shop/${metadata.name ?? ""}`;
      if (this.#objects.get(key)?.metadata.resourceVersion !== metadata.resourceVersion) return false;
    }
    return true;
  }

  #follow(change: Change<Thing>): void {
    const { type: kind, key } = change;
    const present = this.#objects.get(key);
    if ((kind === "added") !== (present === undefined)) this.faults.push(`${kind} ${key} does not follow`);
    if (kind !== "added" && change.old !== present) this.faults.push(`${kind} ${key} has another old object`);
    if (kind === "updated" && versionOf(change.object) <= versionOf(change.old)) this.faults.push(`${key} went back`);
    if (kind === "deleted") this.#objects.delete(key);
    else this.#objects.set(key, change.object);
  }
}

function versionOf({ metadata }: Thing): number {
  return Number(metadata.resourceVersion);
}

function contentOf(things: Iterable<Thing>): Map<string, string> {
  return new Map([...things].map(({ metadata: { name = "", uid }, data }) => [name, `${uid ?? ""} ${data.value}`]));
}
