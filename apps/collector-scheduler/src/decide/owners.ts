import { type Rendezvous, rendezvous } from "@evenkeel/scoring";
import type { Assignments, Exception, Member } from "./assignments.ts";

/** What of a target decides who may own it. */
export interface Placed {
  readonly key: string;
  readonly zone?: string;
  readonly node?: string;
}

/** Choices that are kept; beyond them all are worked out again. */
const MOST_CHOICES = 1_000_000;

const NOBODY: readonly string[] = [];

/**
 * Who owns which target by recorded assignments. Every replica gives the same answer. Choices are worked out once for
 * each target while members stay as they are: pass the owners of the assignments before to keep them.
 */
export class Owners {
  readonly assignments: Assignments;
  readonly #choices: Choices;
  readonly #alone: ReadonlyMap<string, readonly string[]>;

  constructor(assignments: Assignments, before?: Owners) {
    const choices = new Choices(assignments);
    this.assignments = assignments;
    this.#choices = before !== undefined && before.#choices.terms === choices.terms ? before.#choices : choices;
    this.#alone = new Map(assignments.members.map(({ name }) => [name, [name]]));
  }

  /** The collectors that are served the target: one; two during a hand-over; none during a gap or without a member. */
  of(target: Placed): readonly string[] {
    const exception = this.assignments.exceptions.get(target.key);
    return (exception && this.#served(exception)) ?? this.#aloneOrNobody(this.#choices.of(target));
  }

  /** The collector that owns the target, or will when its hand-over ends. */
  ownerOf(target: Placed): string | undefined {
    const exception = this.assignments.exceptions.get(target.key);
    if (exception === undefined) return this.#choices.of(target);
    const { owner, from, apart } = exception;
    if (apart === true || this.#alone.has(owner)) return owner;
    return from !== undefined && this.#alone.has(from) ? from : this.#choices.of(target);
  }

  /** The rendezvous owner: who owns the target without an exception. */
  choice(target: Placed): string | undefined {
    return this.#choices.of(target);
  }

  /** Undefined where an exception names no member, so that it does not count. */
  #served({ owner, from, gap, apart }: Exception): readonly string[] | undefined {
    const former = from === undefined || !this.#alone.has(from) ? undefined : from;
    if (this.#alone.has(owner)) {
      if (former === undefined) return this.#aloneOrNobody(owner);
      return gap === true ? NOBODY : [owner, former];
    }
    if (apart === true) return NOBODY;
    return former === undefined ? undefined : this.#aloneOrNobody(former);
  }

  #aloneOrNobody(name: string | undefined): readonly string[] {
    return (name === undefined ? undefined : this.#alone.get(name)) ?? NOBODY;
  }
}

/** Rendezvous owners among the members that stay. */
class Choices {
  /** All that choices depend on, as text. */
  readonly terms: string;
  readonly #pool: Assignments["pool"];
  readonly #all: Rendezvous;
  readonly #pools = new Map<string, Rendezvous>();
  readonly #fallback: Rendezvous | undefined;
  readonly #known = new Map<string, string | undefined>();

  constructor({ members, pool, fallback }: Assignments) {
    const staying = members.filter(({ leaving }) => leaving !== true);
    this.terms = JSON.stringify([pool, fallback, staying.map((member) => [member.name, poolOf(member, pool)]).sort()]);
    this.#pool = pool;
    this.#all = rendezvous(staying);
    this.#fallback = fallback === "any" ? this.#all : undefined;
    if (pool === "none") return;
    for (const [name, own] of Map.groupBy(staying, (member) => poolOf(member, pool)))
      if (name !== undefined) this.#pools.set(name, rendezvous(own));
  }

  of(target: Placed): string | undefined {
    const pool = poolOf(target, this.#pool);
    const id = pool === undefined ? target.key : `${pool}\n${target.key}`;
    const known = this.#known.get(id);
    if (known !== undefined || this.#known.has(id)) return known;
    if (this.#known.size >= MOST_CHOICES) this.#known.clear();
    const choice = this.#among(pool)?.owner(target.key);
    this.#known.set(id, choice);
    return choice;
  }

  #among(pool: string | undefined): Rendezvous | undefined {
    // A target without a zone or node is at home everywhere.
    return pool === undefined ? this.#all : (this.#pools.get(pool) ?? this.#fallback);
  }
}

/** The zone or node by which a member or target is placed; undefined if it has none. */
export function poolOf({ zone, node }: Pick<Member, "zone" | "node">, pool: Assignments["pool"]): string | undefined {
  return pool === "none" ? undefined : pool === "zone" ? zone : node;
}
