import { randomUUID } from "node:crypto";
import { type Clock, type Component, explain, type Logger } from "@evenkeel/runtime";
import type { Json } from "../bodies/json-text.ts";
import { ABSENT, markOf } from "./put-back.ts";

/** How one member is before a write and after it, as `markOf` says. Null is not known. */
interface Marks {
  readonly before: string | null;
  readonly asked: string | null;
}

/** A write to several members, as it is noted before the first of them is written. */
export interface BegunWrite {
  /** Such as `Deployment default/web`. */
  readonly object: string;
  /** What was asked for, in words. */
  readonly what: string;
  readonly isScale: boolean;
  readonly members: Readonly<Record<string, Marks>>;
}

interface Noted extends BegunWrite {
  readonly id: string;
  /** The pod, and the process in it. */
  readonly instance: string;
  readonly process: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

type Told = { readonly text: string } | { readonly gap: true };

/** The part of shared state that keeps what was begun beyond the end of the process. */
export interface WriteStreams {
  append(object: string, stream: string, text: string, limit: number): Promise<unknown>;
  newest(object: string, stream: string, limit: number): Promise<readonly { readonly text: string }[]>;
  tail(object: string, stream: string, after: "start", signal: AbortSignal): AsyncIterable<Told>;
}

export interface BegunWritesOptions {
  readonly streams: WriteStreams;
  readonly clock: Clock;
  readonly log: Logger;
  readonly instance: string;
  /** Milliseconds after which a write of another replica has not ended because that replica has. */
  readonly patience: number;
}

const OBJECT = "writes";
const STREAM = "begun";
/** Entries that the stream keeps, and writes that are remembered as not ended. */
const MOST = 1_000;

/**
 * Writes to several members that began and have not ended. A process that is killed in between leaves some members
 * written and others not: the next reader of the object is told which. It is kept in shared state, which outlives the
 * process; while that is away, writes go on without.
 */
export class BegunWrites implements Component {
  readonly name = "begun writes";
  readonly #options: BegunWritesOptions | undefined;
  readonly #process = randomUUID();
  readonly #stopping = new AbortController();
  readonly #open = new Map<string, Noted>();

  /** Without options, nothing is kept. */
  constructor(options?: BegunWritesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#options === undefined) return;
    const { streams } = this.#options;
    try {
      for (const { text } of (await streams.newest(OBJECT, STREAM, MOST)).toReversed()) this.#hear(text);
    } catch (error) {
      this.#away(error);
    }
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Call the returned function when the client is about to be told how the write ended. */
  async begin(write: BegunWrite): Promise<() => void> {
    if (this.#options === undefined || Object.keys(write.members).length < 2) return () => undefined;
    const { clock, instance } = this.#options;
    const noted = { ...write, id: randomUUID(), instance, process: this.#process, at: clock.now() };
    await this.#tell({ begun: noted });
    return () => this.#end(noted.id);
  }

  /** A later write of the object made all members alike. */
  settle(object: string): void {
    for (const { id } of this.#unfinished(object)) this.#end(id);
  }

  hasUnfinished(object: string): boolean {
    return this.#unfinished(object).length > 0;
  }

  /**
   * A Warning for each write that left members unlike each other, or may have. `now` has each member that answered,
   * with its object or undefined if it has none. What turns out to be whole is forgotten.
   */
  warnings(object: string, now: ReadonlyMap<string, Json | undefined>): readonly string[] {
    return this.#unfinished(object).flatMap((write) => {
      const standings = Object.entries(write.members).map(([name, marks]) => {
        return [name, now.has(name) ? standingOf(marks, markOf(now.get(name), write.isScale)) : "unknown"] as const;
      });
      const named = (standing: string) => standings.flatMap(([name, one]) => (one === standing ? [name] : []));
      const [done, left, unknown] = [named("asked"), named("before"), named("unknown")];
      if (done.length > 0 && left.length + unknown.length > 0) {
        const name = object.split("/").at(-1) ?? "";
        const where = [`done in ${done.join(", ")}`]
          .concat(left.length === 0 ? [] : `not in ${left.join(", ")}`)
          .concat(unknown.length === 0 ? [] : `not known in ${unknown.join(", ")}, which did not answer`);
        return [
          `${name}: ${write.what} did not complete, because the proxy ended: ${where.join(", ")}: write it again`,
        ];
      }
      if (unknown.length === 0) this.#end(write.id);
      return [];
    });
  }

  #unfinished(object: string): readonly Noted[] {
    const { clock, instance, patience = 0 } = this.#options ?? {};
    const oldest = (clock?.now() ?? 0) - patience;
    return [...this.#open.values()].filter((write) => {
      const hasEnded = write.process !== this.#process && (write.instance === instance || write.at < oldest);
      return write.object === object && hasEnded;
    });
  }

  #end(id: string): void {
    this.#open.delete(id);
    void this.#tell({ ended: id });
  }

  async #tell(entry: object): Promise<void> {
    try {
      await this.#options?.streams.append(OBJECT, STREAM, JSON.stringify(entry), MOST);
    } catch (error) {
      this.#away(error);
    }
  }

  /** What is no entry, such as of another version of this program, is passed over. */
  #hear(text: string): void {
    const { begun, ended } = entryOf(text);
    if (typeof ended === "string") this.#open.delete(ended);
    if (typeof begun?.object !== "string" || typeof begun.members !== "object" || begun.process === this.#process)
      return;
    this.#open.set(begun.id, begun);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MOST) break;
      this.#open.delete(oldest);
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      for await (const told of this.#options?.streams.tail(OBJECT, STREAM, "start", signal) ?? []) {
        if ("text" in told) this.#hear(told.text);
      }
    } catch (error) {
      if (!signal.aborted) this.#away(error);
    }
  }

  #away(error: unknown): void {
    this.#options?.log.debug({ fault: explain(error) }, "begun writes are not kept in shared state");
  }
}

function entryOf(text: string): { readonly begun?: Noted | null; readonly ended?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}

function standingOf({ before, asked }: Marks, now: string): "asked" | "before" | "other" {
  if (now === asked) return "asked";
  if (now === before || before === null) return "before";
  return asked === null && now !== ABSENT ? "asked" : "other";
}
