import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { type Clock, CodedError, isRetryable, retry, toError } from "@evenkeel/runtime";
import { Route53Refused } from "../../errors.ts";
import { canonicalName, displayName, listPosition } from "./record-name.ts";
import { type RecordId, withWeight } from "./weighted-record.ts";
import { whyNotYet } from "./why-not-yet.ts";
import type { ListStart, RecordPage, ZoneApi } from "./zone-api.ts";

export interface ZoneRecordsOptions {
  readonly api: Pick<ZoneApi, "list" | "trouble">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** All records of one name. */
interface Known {
  readonly records: readonly ResourceRecordSet[];
  /** When they were requested, by the monotonic clock: they are no older. */
  readonly at: number;
}

interface Waiter {
  readonly resolve: (known: Known) => void;
  readonly reject: (error: unknown) => void;
}

/** A run of the list that reads on from one page to the next. */
interface Reading {
  /** When and after how many own writes its first page was requested. */
  readonly at: number;
  readonly writes: number;
  /** What it has shown of a name that its last page ended amid. */
  readonly records: readonly ResourceRecordSet[];
}

/** Pages of one name, at most: Route 53 allows a hundred weighted records of a name and type. */
const MOST_PAGES = 10;

/** Milliseconds without a request for a name, after which it is no longer read along with others. */
const FORGET_AFTER = 3_600_000;

/** Milliseconds for which pages with further names are remembered. */
const KEEP_UNASKED = 60_000;

/** Milliseconds for which an unreadable zone is not read again for callers that accept an older answer. */
const FAILURE_LASTS = 30_000;

const RETRY = { attempts: 4, base: 500, cap: 8_000 };

/**
 * The requested records of a zone. One run through the zone's list at a time serves all waiting callers, and also reads
 * names that are likely to be requested next. It starts at the first needed name and jumps to the next name that no
 * page has shown, which needs the fewest possible calls.
 */
export class ZoneRecords {
  readonly #options: ZoneRecordsOptions;
  readonly #known = new Map<string, Known>();
  /** Names that targets read, with the time of the last read. */
  readonly #asked = new Map<string, number>();
  /** Names that the current run has not reached yet, with the callers that wait for them. */
  readonly #due = new Map<string, Waiter[]>();
  /** Own writes of names, by their count at the time. */
  readonly #written = new Map<string, number>();
  #writes = 0;
  #running = false;
  #failure: { readonly error: CodedError; readonly at: number } | undefined;

  constructor(options: ZoneRecordsOptions) {
    this.#options = options;
  }

  /** The records of a canonical name, at most `maxAge` milliseconds old or requested by a run in progress. */
  async read(name: string, maxAge: number, signal: AbortSignal): Promise<readonly ResourceRecordSet[]> {
    signal.throwIfAborted();
    const now = this.#options.clock.monotonic();
    this.#asked.set(name, now);
    const known = this.fresh(name, maxAge);
    if (known !== undefined) return known;
    if (this.#failure && now - this.#failure.at <= Math.min(maxAge, FAILURE_LASTS)) throw this.#failure.error;
    for (const [other, askedAt] of this.#asked) {
      if (now - askedAt > FORGET_AFTER) this.#forget(other);
      else if (this.fresh(other, maxAge / 2) === undefined && !this.#due.has(other)) this.#due.set(other, []);
    }
    return (await this.#unlessAborted(this.#wait(name), signal)).records;
  }

  /**
   * Reads these names again, unless the known records are at most `maxAge` old. Gives the error of each name that
   * Route 53 refuses, and rejects if the zone cannot be read.
   */
  async refresh(names: ReadonlySet<string>, maxAge: number): Promise<ReadonlyMap<string, Error>> {
    const now = this.#options.clock.monotonic();
    for (const name of names) this.#asked.set(name, now);
    const stale = [...names].filter((name) => this.fresh(name, maxAge) === undefined);
    const refused = new Map<string, Error>();
    const keep = (name: string, error: unknown) => {
      if (!(error instanceof Route53Refused)) throw error;
      refused.set(name, error);
    };
    await Promise.all(stale.map((name) => this.#wait(name).catch((error: unknown) => keep(name, error))));
    return refused;
  }

  /** What is known of a name, if it is at most `maxAge` old. */
  fresh(name: string, maxAge: number): readonly ResourceRecordSet[] | undefined {
    const known = this.#known.get(name);
    return known && this.#options.clock.monotonic() - known.at <= maxAge ? known.records : undefined;
  }

  /** What is known of a name, however old. */
  latest(name: string): readonly ResourceRecordSet[] {
    return this.#known.get(name)?.records ?? [];
  }

  /** Route 53 has accepted this weight. A page that was requested before does not undo it. */
  accept(id: RecordId, weight: number): void {
    this.#written.set(id.name, ++this.#writes);
    const known = this.#known.get(id.name);
    if (known) this.#known.set(id.name, { ...known, records: withWeight(id, known.records, weight) });
  }

  /** What is known of a name may be outdated: it is read again, and a page that was requested before does not count. */
  doubt(name: string): void {
    this.#written.set(name, ++this.#writes);
    this.#known.delete(name);
  }

  #wait(name: string): Promise<Known> {
    return new Promise((resolve, reject) => {
      const waiters = this.#due.get(name) ?? [];
      waiters.push({ resolve, reject });
      this.#due.set(name, waiters);
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#forgetUnasked();
    try {
      let position = "";
      while (this.#due.size > 0) position = await this.#readFrom(this.#nextDue(position));
      this.#failure = undefined;
    } catch (thrown) {
      if (thrown instanceof CodedError && !isRetryable(thrown))
        this.#failure = { error: thrown, at: this.#options.clock.monotonic() };
      const waiting = [...this.#due.values()].flat();
      this.#due.clear();
      for (const { reject } of waiting) reject(toError(thrown));
    } finally {
      this.#running = false;
    }
  }

  /** The first name at or after `position` in the list's order, or else the first of all. */
  #nextDue(position: string): string {
    const inOrder = [...this.#due.keys()].sort((a, b) => (listPosition(a) < listPosition(b) ? -1 : 1));
    return inOrder.find((name) => listPosition(name) >= position) ?? inOrder[0] ?? "";
  }

  /**
   * Reads pages from `name` on for as long as they end amid a name that is due. Gives the position that was reached.
   */
  async #readFrom(name: string): Promise<string> {
    let reading: Reading = { at: this.#options.clock.monotonic(), writes: this.#writes, records: [] };
    let start: ListStart = { name: displayName(name) };
    let cutName: string | undefined;
    let pages = 0;
    for (;;) {
      const page = await this.#page(start).catch((error: unknown) => {
        // A list that starts at this name is refused, such as one with an empty label: it is no fault of the zone.
        if (!(error instanceof Route53Refused) || start.type !== undefined) throw error;
        this.#refuse(name, error);
      });
      if (page === undefined) return listPosition(name);
      const { records, next } = page;
      const nextName = next && canonicalName(next.name);
      const names = Map.groupBy([...reading.records, ...records], ({ Name = "" }) => canonicalName(Name));
      for (const [shown, sets] of names) if (shown !== nextName) this.#show(shown, { ...reading, records: sets });
      const end = nextName === undefined ? undefined : listPosition(nextName);
      if (start.type === undefined && !names.has(name)) this.#show(name, { ...reading, records: [] });
      this.#passOver(listPosition(name), end);
      const cut = nextName === undefined ? undefined : names.get(nextName);
      if (next === undefined || nextName === undefined || cut === undefined || !this.#due.has(nextName))
        return end ?? "";
      pages = nextName === cutName ? pages + 1 : 1;
      cutName = nextName;
      if (pages === MOST_PAGES) {
        const fault = `its list does not end within ${MOST_PAGES} pages`;
        this.#refuse(nextName, new Route53Refused({ what: displayName(nextName), fault }));
        return end ?? "";
      }
      reading = { ...reading, records: cut };
      start = next;
    }
  }

  /** All records of a name were read. What was written meanwhile is kept; later callers wait for the next page. */
  #show(name: string, { at, writes, records }: Reading): void {
    const waiters = this.#due.get(name);
    if ((this.#written.get(name) ?? 0) > writes) return;
    const known = { at, records };
    this.#known.set(name, known);
    this.#due.delete(name);
    for (const { resolve } of waiters ?? []) resolve(known);
  }

  /**
   * Names that no page showed at their position. A name with a waiting caller gets its own request, in case Route 53
   * sorts it elsewhere. Others need none.
   */
  #passOver(from: string, to: string | undefined): void {
    for (const [name, waiters] of this.#due) {
      const position = listPosition(name);
      if (waiters.length === 0 && position >= from && (to === undefined || position < to)) this.#due.delete(name);
    }
  }

  /** Fails the callers that wait for this name alone, and reads it no more until it is requested again. */
  #refuse(name: string, error: Error): void {
    const waiters = this.#due.get(name) ?? [];
    this.#due.delete(name);
    this.#forget(name);
    for (const { reject } of waiters) reject(error);
  }

  #page(start: ListStart): Promise<RecordPage> {
    const { api, clock, random, signal } = this.#options;
    // While calls to the zone fail, one call per reconcile is enough to see whether they still do.
    const attempts = api.trouble ? 1 : RETRY.attempts;
    return retry({ ...RETRY, attempts, clock, random, signal }, () => api.list(start));
  }

  /** Pages show more names than requested. They are kept for a while, because at first every name is requested once. */
  #forgetUnasked(): void {
    for (const name of this.#known.keys())
      if (!this.#asked.has(name) && this.fresh(name, KEEP_UNASKED) === undefined) this.#known.delete(name);
  }

  #forget(name: string): void {
    this.#asked.delete(name);
    this.#known.delete(name);
    this.#written.delete(name);
  }

  /** When the signal aborts while calls fail, the reason that they fail for is what a reader wants to know. */
  #unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = () => reject(whyNotYet(this.#options.api, signal));
      signal.addEventListener("abort", abort, { once: true });
      work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
    });
  }
}
