import type { Clock } from "@evenkeel/runtime";
import { Wheel } from "../wheel.ts";
import { Line } from "./line.ts";
import type { HoldOutcome, Settlement, Slot } from "./outcome.ts";
import { Place } from "./place.ts";

export interface Room {
  /** Requests. */
  readonly count: number;
  /** Bytes, as the entries state them. */
  readonly bytes: number;
}

export interface HoldOptions<Held, Upstream extends string | object> {
  readonly clock: Clock;
  /** What one key may hold at once: the same for all, or asked for each request that has to wait. */
  readonly perKey: Room | ((key: string) => Room);
  /** What all keys may hold together. */
  readonly overall: Room;
  /**
   * Hears the end of every wait, once, and within the call that caused it: it may enter, leave and give slots back. It must not throw.
   * Whoever is released owns its slot until it calls `slot.done()`.
   */
  readonly settle: (held: Held, settlement: Settlement<Upstream>) => void;
}

export interface Entry {
  /** What it counts against the room for bytes: headers and what of a body is kept. */
  readonly bytes: number;
  /** Milliseconds that it may wait. */
  readonly wait: number;
  /**
   * When its wait began, on the clock's `monotonic`, for one that had its turn in vain: it stands again where it stood before, room or
   * not, and its wait is counted from there.
   */
  readonly since?: number | undefined;
}

/** How many wait, and for how many bytes they count. */
export type Waiting = Room;

const NONE: Waiting = { count: 0, bytes: 0 };

/**
 * Requests that wait until their key has an upstream: a bounded queue a key, first come, first served. While a key has no upstream
 * everything waits; as soon as one is offered the queue is handed out in order, never more to an upstream at once than its cap, so that a
 * burst goes over few connections that are used again. With a free slot and nobody waiting a request is released at once.
 */
export class Hold<Held, Upstream extends string | object> {
  readonly #options: HoldOptions<Held, Upstream>;
  readonly #lines = new Map<string, Line<Held, Upstream>>();
  readonly #deadlines: Wheel;
  #count = 0;
  #bytes = 0;

  constructor(options: HoldOptions<Held, Upstream>) {
    this.#options = options;
    this.#deadlines = new Wheel(options.clock);
  }

  /** What waits for `key`, or for all keys. */
  waiting(key?: string): Waiting {
    if (key === undefined) return { count: this.#count, bytes: this.#bytes };
    const line = this.#lines.get(key);
    return line ? { count: line.length, bytes: line.bytes } : NONE;
  }

  /** Milliseconds that the first in line has waited; undefined if nobody waits. */
  longestWait(key: string): number | undefined {
    const first = this.#lines.get(key)?.first;
    return first && this.#now() - first.since;
  }

  /**
   * Lines a request up. Gives its place, with which `leave` takes it out; undefined if its wait has ended already, by a release or for
   * want of room. `entry` is read only if it has to wait.
   */
  enter(key: string, held: Held, entry: Entry): Place<Held, Upstream> | undefined {
    const line = this.#line(key);
    if (line.length === 0 && !line.serving) {
      const slot = this.#take(line);
      if (slot) {
        this.#options.settle(held, { outcome: "released", waited: 0, slot });
        return undefined;
      }
    }
    const { bytes, wait, since } = entry;
    const overflow = since === undefined ? this.#overflow(line, bytes) : undefined;
    if (overflow) {
      this.#forgetIdle(line);
      this.#options.settle(held, { outcome: overflow, waited: 0 });
      return undefined;
    }
    const now = this.#now();
    const place = new Place(line, held, bytes, since === undefined ? now : Math.min(now, Math.floor(since)));
    if (since === undefined) line.push(place);
    else line.insert(place);
    this.#count += 1;
    this.#bytes += bytes;
    if (wait < Infinity) this.#deadlines.set(place, wait - (now - place.since));
    return place;
  }

  /** The client of a request left. Nothing happens if its wait has ended before. */
  leave(place: Place<Held, Upstream>): void {
    this.#end(place, "clientGone");
  }

  /** `upstream` takes requests for `key`, up to `cap` at once; again with another cap to change it. Hands out at once. */
  offer(key: string, upstream: Upstream, cap: number): void {
    const line = this.#line(key);
    line.slots.offer(upstream, cap);
    this.#serve(line);
  }

  /** Nothing more goes to `upstream`. Without any upstream the key's requests wait again. */
  withdraw(key: string, upstream: Upstream): void {
    const line = this.#lines.get(key);
    if (!line) return;
    line.slots.withdraw(upstream);
    this.#forgetIdle(line);
  }

  /** Ends the waits of a key, or of all keys, in the order of the lines. Whoever enters afterwards waits as ever. */
  drain(key?: string): void {
    const lines = key === undefined ? [...this.#lines.values()] : [this.#lines.get(key)];
    for (const line of lines) {
      // Those who come while the others are sent away are not of this drain.
      for (let rest = line?.length ?? 0; rest > 0 && line?.first; rest--) this.#end(line.first, "drained");
    }
  }

  readonly #expire = (place: Place<Held, Upstream>) => this.#end(place, "deadline");

  #now(): number {
    return Math.floor(this.#options.clock.monotonic());
  }

  #line(key: string): Line<Held, Upstream> {
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = new Line(key, this.#expire)));
    return line;
  }

  #forgetIdle(line: Line<Held, Upstream>): void {
    if (line.length === 0 && line.slots.size === 0 && this.#lines.get(line.key) === line) this.#lines.delete(line.key);
  }

  #overflow(line: Line<Held, Upstream>, bytes: number): "overflowCount" | "overflowBytes" | undefined {
    const { perKey, overall } = this.#options;
    const room = typeof perKey === "function" ? perKey(line.key) : perKey;
    if (line.length >= room.count || this.#count >= overall.count) return "overflowCount";
    if (line.bytes + bytes > room.bytes || this.#bytes + bytes > overall.bytes) return "overflowBytes";
    return undefined;
  }

  #take(line: Line<Held, Upstream>): Slot<Upstream> | undefined {
    const upstream = line.slots.take();
    if (upstream === undefined) return undefined;
    let given = false;
    return {
      upstream,
      done: () => {
        if (given) return;
        given = true;
        line.slots.free(upstream);
        this.#serve(line);
        this.#forgetIdle(line);
      },
    };
  }

  #serve(line: Line<Held, Upstream>): void {
    if (line.serving) return;
    line.serving = true;
    try {
      while (line.first) {
        const slot = this.#take(line);
        if (!slot) return;
        const place = line.first;
        this.#remove(place, line);
        this.#options.settle(place.held, { outcome: "released", waited: this.#now() - place.since, slot });
      }
    } finally {
      line.serving = false;
    }
  }

  #end(place: Place<Held, Upstream>, outcome: Exclude<HoldOutcome, "released">): void {
    const { line } = place;
    if (!line) return;
    this.#remove(place, line);
    this.#forgetIdle(line);
    this.#options.settle(place.held, { outcome, waited: this.#now() - place.since });
  }

  #remove(place: Place<Held, Upstream>, line: Line<Held, Upstream>): void {
    this.#deadlines.clear(place);
    line.remove(place);
    this.#count -= 1;
    this.#bytes -= place.bytes;
  }
}
