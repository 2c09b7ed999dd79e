import { type Clock, type Component, type Logger, TokenBucket } from "@evenkeel/runtime";
import { OutOfRange, Route53Stopped } from "../../errors.ts";
import type { SecretReader } from "../../observe/secret-reader.ts";
import type { WeightTarget } from "../weight-target.ts";
import { AwsConnections } from "./aws-connections.ts";
import { accountOf, type AwsIdentity, fingerprint, readIdentity, type Route53Spec } from "./aws-identity.ts";
import type { AwsSession } from "./aws-session.ts";
import { canonicalName, zoneId } from "./record-name.ts";
import { describeRecord } from "./weighted-record.ts";
import { Zone } from "./zone.ts";
import type { CallCounter } from "./zone-api.ts";

export interface Route53TargetsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Requests a second, for each account. */
  readonly rate: number;
  /** Milliseconds for which the changes of a zone are gathered. */
  readonly batchWindow: number;
  /** The environment with HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly calls: CallCounter;
  readonly secrets: SecretReader;
  /** Namespaces whose objects may use the AWS identity of this process. */
  readonly ambient: ReadonlySet<string>;
  /** Address of STS, where roles are assumed; default: that of AWS. */
  readonly stsEndpoint?: string;
}

/** What one identity has open. */
interface Access {
  readonly account: string;
  readonly session: AwsSession;
  readonly bucket: TokenBucket;
  readonly zones: Map<string, Zone>;
  /** By the monotonic clock. */
  usedAt: number;
}

export const ROUTE53_RANGE = { minimum: 0, maximum: 255 };

/** Maximum milliseconds of a call to AWS. */
const CALL_DEADLINE = 10_000;

/**
 * Milliseconds without use after which an identity is dropped: its Secret has changed, or its last Rebalance was
 * deleted.
 */
const IDLE = 7_200_000;

/**
 * The weighted records of Route 53 as targets. Targets of one zone and identity share the cached records, one batch of
 * changes per window and one follower of changes. All calls of one account share one limit. Records that were read with
 * one identity are never used for another.
 */
export class Route53Targets implements Component {
  readonly name = "route53";
  readonly #options: Route53TargetsOptions;
  readonly #connections: AwsConnections;
  readonly #stopped = new AbortController();
  readonly #accesses = new Map<string, Access>();

  constructor(options: Route53TargetsOptions) {
    this.#options = options;
    this.#connections = new AwsConnections(options.env);
  }

  /** The record that a spec of an object in `namespace` names. Sends no request. */
  target(namespace: string, spec: Route53Spec): WeightTarget {
    const { name, type, identifier } = spec.resource;
    const zone = zoneId(spec.hostedZoneID);
    const id = { zone, name: canonicalName(name), type: type.toUpperCase(), identifier: identifier || undefined };
    const target = describeRecord(id);
    const open = (signal: AbortSignal) => this.#open(namespace, spec, zone, signal);
    return {
      name: target,
      endpoint: spec.endpoint,
      range: ROUTE53_RANGE,
      read: async (terms) => (await open(terms.signal)).read(id, terms),
      write: async (weight, terms) => {
        const { minimum, maximum } = ROUTE53_RANGE;
        if (!Number.isInteger(weight) || weight < minimum || weight > maximum)
          throw new OutOfRange({ target, minimum, maximum, weight });
        await (await open(terms.signal)).write(id, weight, terms);
      },
    };
  }

  /** Withdraws waiting writes, aborts calls in progress and closes the connections. */
  stop(): void {
    this.#stopped.abort(new Route53Stopped({}));
    this.#accesses.clear();
    this.#connections.close();
  }

  /** The zone, as seen by the identity of the present credentials in the Secrets. */
  async #open(namespace: string, spec: Route53Spec, zone: string, signal: AbortSignal): Promise<Zone> {
    const identity = await readIdentity(namespace, spec, this.#options, signal);
    const { AwsSession, ZoneApi } = await import("./aws-calls.ts");
    const access = this.#access(identity, AwsSession);
    const known = access.zones.get(zone);
    if (known) return known;
    const { clock, random, log, calls, batchWindow } = this.#options;
    const common = { clock, random, log, signal: this.#stopped.signal };
    const { session, bucket } = access;
    const api = new ZoneApi({ ...common, zone, session, bucket, calls, deadline: CALL_DEADLINE });
    const opened = new Zone({ ...common, api, window: batchWindow });
    access.zones.set(zone, opened);
    return opened;
  }

  #access(identity: AwsIdentity, Session: typeof AwsSession): Access {
    const { clock, stsEndpoint } = this.#options;
    const usedAt = clock.monotonic();
    const print = fingerprint(identity);
    const known = this.#accesses.get(print);
    if (known) {
      known.usedAt = usedAt;
      return known;
    }
    this.#dropIdle(usedAt);
    const account = accountOf(identity);
    const connections = this.#connections;
    const session = new Session({ identity, connections, clock, deadline: CALL_DEADLINE, stsEndpoint });
    const access = { account, session, bucket: this.#bucket(account), zones: new Map<string, Zone>(), usedAt };
    this.#accesses.set(print, access);
    return access;
  }

  #bucket(account: string): TokenBucket {
    const sibling = [...this.#accesses.values()].find((access) => access.account === account);
    const { clock, rate } = this.#options;
    return sibling?.bucket ?? new TokenBucket(clock, { perSecond: rate, burst: rate });
  }

  #dropIdle(now: number): void {
    for (const [print, { usedAt, zones }] of this.#accesses)
      if (now - usedAt > IDLE && [...zones.values()].every(({ isIdle }) => isIdle)) this.#accesses.delete(print);
  }
}
