import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type RecordSet, type Route53, type Route53Options, startRoute53 } from "@evenkeel/sim";
import { type Route53Spec } from "../src/targets/route53/aws-identity.ts";
import { Route53Targets, type Route53TargetsOptions } from "../src/targets/route53/route53-targets.ts";
import type { WeightTarget, WriteTerms } from "../src/targets/weight-target.ts";
import type { SecretKey, SecretReader } from "../src/observe/secret-reader.ts";

/** Milliseconds of the fake clock between two chances for the sockets. A call's deadline is many of them away. */
const STEP = 250;

/** Rounds of the event loop in which calls on loopback end. */
const ROUNDS = 60;

/** Secrets in memory. A test changes `values` and may count `reads`. */
export class KnownSecrets implements SecretReader {
  readonly values: Record<string, string> = { id: "AKIDEXAMPLE", key: "not-so-secret" };
  reads = 0;

  read(_namespace: string, { key = "" }: SecretKey): Promise<string> {
    this.reads += 1;
    const value = this.values[key];
    return value === undefined ? Promise.reject(new Error(`no ${key}`)) : Promise.resolve(value);
  }
}

/** An embedded Route 53 and the targets in it, on one clock that a test moves. */
export class Route53World implements AsyncDisposable {
  readonly clock: FakeClock;
  readonly route53: Route53;
  readonly targets: Route53Targets;
  readonly secrets = new KnownSecrets();
  readonly log: string[] = [];
  /** `list ok`, `change throttled`, … as they were counted. */
  readonly calls: string[] = [];

  private constructor(clock: FakeClock, route53: Route53, options: Partial<Route53TargetsOptions>) {
    this.clock = clock;
    this.route53 = route53;
    this.targets = new Route53Targets({
      clock,
      log: createLogger({
        service: "test",
        level: "debug",
        secrets: [],
        destination: { write: (line) => this.log.push(line) },
      }),
      random: () => 0.5,
      rate: 5,
      batchWindow: 2_000,
      env: {},
      calls: { inc: ({ action, result }) => this.calls.push(`${action} ${result}`) },
      secrets: this.secrets,
      ambient: new Set<string>(),
      ...options,
    });
  }

  static async start(
    records: readonly RecordSet[] = [],
    { sim = {}, targets = {} }: { sim?: Route53Options; targets?: Partial<Route53TargetsOptions> } = {},
  ): Promise<Route53World> {
    const clock = new FakeClock();
    const route53 = await startRoute53({ clock, ...sim });
    route53.addZone("Z1", "example.com", records);
    return new Route53World(clock, route53, targets);
  }

  spec(identifier: string | undefined, more: Partial<Route53Spec> = {}): Route53Spec {
    return {
      hostedZoneID: "Z1",
      endpoint: this.route53.url,
      resource: { name: "www.example.com", type: "A", ...(identifier !== undefined && { identifier }) },
      auth: { secretRef: { accessKeyIDSecretRef: { key: "id" }, secretAccessKeySecretRef: { key: "key" } } },
      ...more,
    };
  }

  target(identifier: string | undefined, more: Partial<Route53Spec> = {}): WeightTarget {
    return this.targets.target("default", this.spec(identifier, more));
  }

  /** A target of another name, type or identifier. */
  record(name: string, identifier: string | undefined, type = "A"): WeightTarget {
    return this.target(identifier, { resource: { name, type, ...(identifier !== undefined && { identifier }) } });
  }

  read(target: WeightTarget, maxAge = 0) {
    return this.until(target.read({ signal: new AbortController().signal, maxAge }));
  }

  write(target: WeightTarget, weight: number): Promise<void> {
    return this.until(write(target, weight));
  }

  /** Moves the clock in steps, so that calls on the wire end in time. */
  async advance(milliseconds: number): Promise<void> {
    for (let rest = milliseconds; rest > 0; rest -= STEP) {
      await rounds();
      await this.clock.advance(Math.min(rest, STEP));
    }
    await rounds();
  }

  /** Moves the clock until the work is done, for at most an hour. */
  async until<T>(work: Promise<T>): Promise<T> {
    const state = { settled: false };
    const settle = () => (state.settled = true);
    work.then(settle, settle);
    await rounds();
    for (let waited = 0; !state.settled && waited < 3_600_000; waited += STEP) {
      await this.clock.advance(STEP);
      await rounds(() => state.settled);
    }
    if (!state.settled) throw new Error("not done within an hour");
    return work;
  }

  /** Weights in the zone by identifier, as Route 53 has them. */
  weights(zone = "Z1"): Record<string, number | undefined> {
    const weighted = this.route53.records(zone).filter(({ setIdentifier }) => setIdentifier !== undefined);
    return Object.fromEntries(weighted.map(({ setIdentifier = "", weight }) => [setIdentifier, weight]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.targets.stop();
    await this.route53.stop();
  }
}

export function weighted(setIdentifier: string, weight: number, more: Partial<RecordSet> = {}): RecordSet {
  return {
    ...{ name: "www.example.com", type: "A", setIdentifier, weight, ttl: 60, values: ["192.0.2.1"] },
    ...more,
  };
}

/** A write that nothing stops, unless told. */
export function write(target: WeightTarget, weight: number, terms: Partial<WriteTerms> = {}): Promise<void> {
  return target.write(weight, { signal: new AbortController().signal, lastLook: () => undefined, ...terms });
}

/** The code of the error that the work rejects with. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  );
}

async function rounds(enough: () => boolean = () => false): Promise<void> {
  for (let round = 0; round < ROUNDS && !enough(); round++) await new Promise((resolve) => setImmediate(resolve));
}
