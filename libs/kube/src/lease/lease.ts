import { randomUUID } from "node:crypto";
import type { Metrics } from "@evenkeel/metrics";
import { type Clock, type Leadership, type Logger, type Loop, type SettingsOf, sleep } from "@evenkeel/runtime";
import { AlreadyExists, BadFencingToken, Conflict, LeaseLost, NotFound } from "../errors.ts";
import type { leaseMetrics } from "./lease-metrics.ts";
import { LeaseObserver } from "./lease-observer.ts";
import { leaseContradictions, type leaseSettings } from "./lease-settings.ts";
import { HeldTerm } from "./lease-term.ts";
import { microTime } from "../objects/micro-time.ts";
import { nameKey } from "../objects/object-key.ts";
import type { Resource } from "../objects/resource.ts";
import type { Lease } from "../objects/resource-types.ts";

export interface LeaseOptions {
  /** On connections of its own (`lane: "urgent"`), so that no slow call delays a renewal. */
  readonly leases: Resource<Lease>;
  readonly namespace: string;
  /** Name of the lease, such as the service's. */
  readonly name: string;
  /**
   * The holder that people see, such as the pod's name. A random part makes it unique to this process.
   */
  readonly identity: string;
  readonly timing: SettingsOf<typeof leaseSettings>;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics?: Metrics<typeof leaseMetrics> | undefined;
  /**
   * Subscribes to hints that the leader may soon release the lease, such as that its pod terminates. Returns the
   * function that unsubscribes. After a hint, a candidate tries every 100 ms for five seconds, so that the cluster is
   * without a leader for a short time only.
   */
  readonly releaseHints?: (hint: () => void) => () => void;
}

/** Candidates vary the retry period by up to this share. */
const JITTER = 0.2;
/** Milliseconds between attempts after a hint, and for how long they are made. */
const HINTED = { retryPeriod: 100, lasts: 5000 };
/**
 * Attempts to release the lease; each can fail only because of a renewal of this process that was still in progress.
 */
const RELEASE_TRIES = 3;

/**
 * Leadership by a coordination.k8s.io Lease, as in client-go, with four guarantees:
 *
 * - **One at a time.** A term's signal aborts `leaseRenewDeadline` after the last successful renewal was sent. Another
 *   candidate takes over no sooner than `leaseDuration`, which is longer, after it saw that renewal. Both measure with
 *   their own monotonic clock, so wall clocks may be wrong or jump; only their rates must agree within the ratio of the
 *   two. One case is left to the fencing token: the lease is deleted while it is held, and created again by a process
 *   that has just started and never saw it.
 * - **Fencing.** The token is the resource version of the write that took the lease. The API server's storage numbers
 *   all writes, so it grows with every term of any process, also after a restart and when the lease was deleted and
 *   created again. Only a storage that is restored from a backup goes back; shared state that is newer then refuses
 *   writes until its fence is cleared. The token guards only what checks it, which is shared state. Before other
 *   writes, a process that may have been frozen checks `term.held()`.
 * - **In order.** When the election is stopped, the lease is kept until the loop has ended, and only then released.
 * - **It continues.** Losing the lease or the API server ends the term, never the process; it tries for the next term
 *   at once.
 */
export function leaseLeadership(options: LeaseOptions): Leadership {
  const faults = leaseContradictions(options.timing);
  if (faults.length > 0) throw new RangeError(faults.join("; "));
  return { campaign: (signal, lead) => new Campaign(options).run(signal, lead) };
}

class Campaign {
  readonly #options: LeaseOptions;
  readonly #identity: string;
  readonly #key: string;
  readonly #observer: LeaseObserver;
  #holder: string | undefined;
  /** Until when a hint is in force, by the monotonic clock. */
  #hintedUntil = -Infinity;
  #endWait: () => void = () => undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#identity = `${options.identity}_${randomUUID()}`;
    this.#key = nameKey(options);
    this.#observer = new LeaseObserver(options.clock, this.#identity, options.timing.leaseDuration);
  }

  async run(signal: AbortSignal, lead: Loop): Promise<void> {
    this.#leads(false);
    const unsubscribe = this.#options.releaseHints?.(() => this.#hinted());
    try {
      while (!signal.aborted) {
        const taken = await this.#acquire(signal);
        if (taken && !(await this.#serve(taken, signal, lead))) return;
      }
    } finally {
      unsubscribe?.();
    }
  }

  /** Retries until the lease is taken; undefined if the signal aborts first. */
  async #acquire(signal: AbortSignal): Promise<Taken | undefined> {
    const { log } = this.#options;
    const ended = () => signal.aborted;
    while (!ended()) {
      try {
        const taken = await this.#tryOnce(signal);
        if (taken) return taken;
      } catch (error) {
        if (ended()) return undefined;
        log.warn({ error, lease: this.#key }, "the lease could not be read or taken; it will be retried");
      }
      await this.#waitForRetry(signal);
    }
    return undefined;
  }

  #isHinted(): boolean {
    return this.#options.clock.monotonic() < this.#hintedUntil;
  }

  #hinted(): void {
    if (!this.#isHinted()) this.#endWait();
    this.#hintedUntil = this.#options.clock.monotonic() + HINTED.lasts;
  }

  async #waitForRetry(signal: AbortSignal): Promise<void> {
    const { clock, random, timing } = this.#options;
    const usual = timing.leaseRetryPeriod * (1 + JITTER * random());
    const wait = this.#isHinted() ? Math.min(usual, HINTED.retryPeriod) : usual;
    const waiting = new AbortController();
    this.#endWait = () => waiting.abort();
    await sleep(clock, wait, AbortSignal.any([signal, waiting.signal])).catch(() => undefined);
  }

  async #tryOnce(signal: AbortSignal): Promise<Taken | undefined> {
    const { leases, clock, timing } = this.#options;
    const call = { signal, deadline: timing.leaseRenewDeadline };
    const lease = await leases.get(this.#options, call).catch(absentIfNotFound);
    const free = this.#observer.observe(lease);
    this.#sawHolder(lease?.spec?.holderIdentity);
    if (!free) return undefined;
    const now = microTime(clock.now());
    const spec = { ...this.#heldSpec(now), acquireTime: now };
    const sentAt = clock.monotonic();
    try {
      const written = lease
        ? await leases.replace(
            { ...lease, spec: { ...lease.spec, ...spec, leaseTransitions: transitions(lease) + 1 } },
            call,
          )
        : await leases.create(this.#newLease({ ...spec, leaseTransitions: 0 }), call);
      const held = new HeldTerm(clock, this.#key, this.#tokenOf(written), sentAt, timing.leaseRenewDeadline);
      this.#observer.observe(written);
      return held.expired ? undefined : { held, lease: written };
    } catch (error) {
      if (error instanceof Conflict || error instanceof AlreadyExists || error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** One term, from taking the lease to losing or releasing it. Returns whether to try for another. */
  async #serve({ held, lease }: Taken, signal: AbortSignal, lead: Loop): Promise<boolean> {
    const { log } = this.#options;
    const { term } = held;
    const stop = () => held.end(signal.reason);
    const renewing = new AbortController();
    this.#holder = this.#identity;
    this.#leads(true);
    log.info({ lease: this.#key, identity: this.#identity, fence: String(term.fencingToken) }, "leading");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const onEnd = () => this.#leads(false);
    term.signal.addEventListener("abort", onEnd, { once: true });
    // The lease is renewed until the loop has ended, also while the loop is stopping.
    const renewal = this.#renew(held, lease, renewing.signal);
    let isOver = true;
    try {
      await lead(term);
      isOver = signal.aborted || !term.signal.aborted;
    } finally {
      signal.removeEventListener("abort", stop);
      held.end(new LeaseLost({ lease: this.#key, why: "the leader's loop has ended" }));
      renewing.abort();
      await renewal;
      if (isOver) await this.#release();
    }
    return !isOver;
  }

  /** Renews until it is stopped or the lease is lost, which ends the term. */
  async #renew(held: HeldTerm, lease: Lease, signal: AbortSignal): Promise<void> {
    const { leases, clock, timing, log } = this.#options;
    const ended = () => signal.aborted;
    const expired = () => held.expired;
    let present = lease;
    for (;;) {
      await sleep(clock, Math.min(timing.leaseRetryPeriod, Math.max(0, held.left)), signal).catch(() => undefined);
      // First, since the loop may have ended because of it.
      if (expired()) break;
      if (ended()) return;
      const sentAt = clock.monotonic();
      // At most half of the time, so that a call that hangs is not the only attempt.
      const call = { signal, deadline: Math.min(held.left, timing.leaseRenewDeadline / 2) };
      try {
        const spec = { ...present.spec, ...this.#heldSpec(microTime(clock.now())) };
        present = await leases.replace({ ...present, spec }, call);
        if (!held.renewed(sentAt)) break;
      } catch (error) {
        if (expired()) break;
        if (ended()) return;
        const lost = await this.#lossBehind(error, call);
        if (lost === undefined)
          log.warn({ error, lease: this.#key, left: Math.round(held.left) }, "the lease was not renewed");
        else if ("why" in lost) held.end(new LeaseLost({ lease: this.#key, why: lost.why }, { cause: error }));
        else present = lost.lease;
        if (lost !== undefined && "why" in lost) break;
      }
    }
    log.warn(
      { lease: this.#key, error: held.term.signal.reason as unknown },
      "the lease is lost; leader-only work stops",
    );
  }

  /**
   * What a failed renewal means: another process has the lease, or the lease was only edited, or nothing is known. The
   * renewal may have been carried out although its response was lost; then the next one conflicts, and the lease still
   * names this process.
   */
  async #lossBehind(
    error: unknown,
    call: { readonly signal: AbortSignal; readonly deadline: number },
  ): Promise<{ readonly why: string } | { readonly lease: Lease } | undefined> {
    if (error instanceof NotFound) return { why: "it was deleted" };
    if (!(error instanceof Conflict)) return undefined;
    try {
      const lease = await this.#options.leases.get(this.#options, call).catch(absentIfNotFound);
      if (lease === undefined) return { why: "it was deleted" };
      const holder = lease.spec?.holderIdentity;
      return holder === this.#identity ? { lease } : { why: holder ? `${holder} holds it` : "its holder was removed" };
    } catch {
      return undefined;
    }
  }

  /** Best effort: if it fails, the lease expires. */
  async #release(): Promise<void> {
    const { leases, clock, timing, log } = this.#options;
    const call = { deadline: timing.leaseRetryPeriod };
    const now = microTime(clock.now());
    const spec = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    for (let attempt = 1; ; attempt++) {
      try {
        const lease = await leases.get(this.#options, call);
        if (lease.spec?.holderIdentity !== this.#identity) return;
        await leases.replace({ ...lease, spec: { ...lease.spec, ...spec } }, call);
        log.info({ lease: this.#key }, "the lease is released");
        return;
      } catch (error) {
        if (error instanceof NotFound) return;
        if (error instanceof Conflict && attempt < RELEASE_TRIES) continue;
        log.warn({ error, lease: this.#key }, "the lease could not be released; it expires by itself");
        return;
      }
    }
  }

  #heldSpec(now: string) {
    const leaseDurationSeconds = Math.ceil(this.#options.timing.leaseDuration / 1000);
    return { holderIdentity: this.#identity, leaseDurationSeconds, renewTime: now };
  }

  #newLease(spec: NonNullable<Lease["spec"]>): Lease {
    const { namespace, name } = this.#options;
    return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name }, spec };
  }

  #tokenOf({ metadata: { resourceVersion = "" } }: Lease): bigint {
    if (/^[1-9]\d*$/.test(resourceVersion)) return BigInt(resourceVersion);
    throw new BadFencingToken({ lease: this.#key, version: resourceVersion });
  }

  #sawHolder(holder: string | undefined): void {
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder) this.#options.log.info({ lease: this.#key, holder }, "another process leads");
  }

  #leads(leading: boolean): void {
    this.#options.metrics?.leading.set({ name: this.#options.name }, leading ? 1 : 0);
  }
}

/** The lease as written, and when the write was sent. */
interface Taken {
  readonly held: HeldTerm;
  readonly lease: Lease;
}

function transitions(lease: Lease): number {
  return lease.spec?.leaseTransitions ?? 0;
}

function absentIfNotFound(error: unknown): undefined {
  if (error instanceof NotFound) return undefined;
  throw error;
}
