import type { Metrics } from "@evenkeel/metrics";
import type { Clock, Logger } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";
import type { GatedService, StatusClass } from "./gated-service.ts";
import type { Rejection } from "./refusals.ts";

/** Milliseconds for which counts and lines are collected; less while lines remain. */
const GATHER = 250;
const NEXT = 10;
/**
 * Entries that are written at once, so that no request waits long for them, and the maximum number of waiting entries.
 */
const BATCH = 200;
const MOST = 20_000;
/** Milliseconds for which lines wait at most for held requests that are being forwarded. */
const LONGEST_DELAY = 5_000;

/** A request that ended. */
export interface Ended {
  readonly service: GatedService;
  readonly outcome: "released" | Rejection;
  readonly held: boolean;
  /** Milliseconds. */
  readonly waited: number;
  readonly took: number;
  /** The status that the client got; 0 if it had disconnected. */
  readonly status: number;
  readonly method: string;
  /** The path without its query, truncated. */
  readonly path: string;
}

export interface AccessLogOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics<typeof metrics>;
  /** Whether held requests are being forwarded, which has priority over lines. */
  readonly busy?: () => boolean;
}

/**
 * Writes metrics and the access log with a short delay, so that a burst is answered before it is logged. Gauges and
 * counters come from the counts of the services.
 */
export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #changed = new Set<GatedService>();
  readonly #poured = new WeakMap<GatedService, number>();
  #ended: Ended[] = [];
  #written = 0;
  /** When the oldest entry came, in monotonic milliseconds. */
  #since = 0;
  #leftOut = 0;
  #found = { port: 0, header: 0, none: 0 };
  #cancel: (() => void) | undefined;

  constructor(options: AccessLogOptions) {
    this.#options = options;
  }

  /** The counts of a service changed. */
  touch(service: GatedService): void {
    this.#changed.add(service);
    this.#cancel ??= this.#options.clock.schedule(GATHER, this.#flush);
  }

  /** The result of the search for a request's Service. */
  found(by: "port" | "header" | "none"): void {
    this.#found[by] += 1;
    this.#cancel ??= this.#options.clock.schedule(GATHER, this.#flush);
  }

  /** A request that was forwarded without a wait ended. It is counted at once and not logged. */
  passed(service: GatedService, status: number, took: number): void {
    this.touch(service);
    if (!service.removed) this.#options.metrics.incomingRequests.observe(service.sources[classOf(status)], took / 1000);
  }

  ended(entry: Ended): void {
    this.touch(entry.service);
    if (this.#ended.length === 0) this.#since = this.#options.clock.monotonic();
    if (this.#ended.length - this.#written < MOST) this.#ended.push(entry);
    else {
      this.#leftOut += 1;
      this.#count(entry);
    }
  }

  /** Writes all entries. */
  flush(): void {
    while (this.#ended.length > 0) this.#write();
    this.#pour();
  }

  readonly #flush = (): void => {
    const { clock, busy } = this.#options;
    const rests = busy?.() === true && clock.monotonic() - this.#since < LONGEST_DELAY;
    if (!rests) this.#write();
    this.#pour();
    if (this.#ended.length > 0) this.#cancel = clock.schedule(rests ? GATHER : NEXT, this.#flush);
  };

  #pour(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const { metrics } = this.#options;
    for (const service of this.#changed) {
      if (service.removed) continue;
      const { labels, pending, inFlight, requests } = service;
      metrics.pending.set(labels, pending);
      metrics.inFlight.set(labels, inFlight);
      metrics.queuedCount.set(service.source, pending);
      const more = requests - (this.#poured.get(service) ?? 0);
      metrics.requests.inc(labels, more);
      this.#poured.set(service, requests);
    }
    this.#changed.clear();
    for (const extractionType of ["port", "header", "none"] as const) {
      if (this.#found[extractionType] > 0) metrics.hostExtraction.inc({ extractionType }, this.#found[extractionType]);
      this.#found[extractionType] = 0;
    }
  }

  #write(): void {
    const { log } = this.#options;
    const end = Math.min(this.#ended.length, this.#written + BATCH);
    for (; this.#written < end; this.#written++) {
      const entry = this.#ended[this.#written] as Ended;
      this.#count(entry);
      const { service, outcome, waited, took, status, method, path } = entry;
      if (entry.held) {
        const line = { service: service.key, outcome, waited, took: Math.round(took), status, method, path };
        log.info({ request: line }, "request held");
      }
    }
    if (this.#written < this.#ended.length) return;
    this.#ended = [];
    this.#written = 0;
    if (this.#leftOut > 0) log.warn({ lines: this.#leftOut }, "access log lines dropped");
    this.#leftOut = 0;
  }

  #count({ service, outcome, held, waited, took, status }: Ended): void {
    if (service.removed) return;
    const { metrics } = this.#options;
    if (held) metrics.held.observe(service.labels, waited / 1000);
    if (outcome !== "released") metrics.rejected.inc({ ...service.labels, reason: outcome });
    metrics.incomingRequests.observe(service.sources[classOf(status)], took / 1000);
  }
}

function classOf(status: number): StatusClass {
  if (status < 100 || status > 599) return "none";
  return `${Math.floor(status / 100) as 1 | 2 | 3 | 4 | 5}xx`;
}
