import { type ClusterScoreStatus, parseClusterScore } from "@evenkeel/api";
import { findCondition, isPaused, nameKey, type ReadStore } from "@evenkeel/kube";
import type { Clock } from "@evenkeel/runtime";
import { COST, ORIGINAL, type StoredClusterScore } from "../cluster-score-resource.ts";
import { capacityScore } from "../decide/score.ts";
import { type MemberScore, type ScoreSource, standingOf } from "../decide/standing.ts";
import type { Member, Members } from "./member.ts";
import { ownClusterScore } from "./own-member.ts";

export interface StoredMembersOptions {
  readonly store: Pick<ReadStore<StoredClusterScore>, "get" | "values" | "subscribe">;
  readonly clock: Clock;
  readonly namespace: string;
  /** Milliseconds after which a score is too old. */
  readonly limit: number;
  /** LABEL_VALUE_MY_DOMAIN. */
  readonly ownLabel: string;
}

interface Sighting {
  readonly timestamp: string;
  /** When this process saw that timestamp for the first time, on its own clock. */
  readonly at: number;
}

/** The members, as the ClusterScores say and as this process judges their age. */
export class StoredMembers implements Members {
  readonly #options: StoredMembersOptions;
  readonly #sightings = new Map<string, Sighting>();

  constructor(options: StoredMembersOptions) {
    this.#options = options;
    options.store.subscribe((change) => {
      const name = (change.type === "deleted" ? change.old : change.object).metadata.name ?? "";
      if (change.type === "deleted") this.#sightings.delete(name);
      else this.#sight(name, change.object.status?.updateTimestamp, change.type === "added");
    });
  }

  own(): Member | undefined {
    const object = ownClusterScore(this.#options.store.values());
    return object && this.#member(object, this.#comparison());
  }

  get(name: string): Member | undefined {
    const { store, namespace } = this.#options;
    const object = store.get(nameKey({ namespace, name }));
    return object && this.#member(object, this.#comparison());
  }

  all(): readonly Member[] {
    const comparison = this.#comparison();
    return Array.from(this.#options.store.values(), (object) => this.#member(object, comparison))
      .filter(({ standing }) => standing !== "Duplicate")
      .sort((a, b) => Number(b.own) - Number(a.own) || (a.name < b.name ? -1 : 1));
  }

  /** What members are compared by: watts only if every one that is ready has a score in watts. */
  comparison(): ScoreSource {
    return this.#comparison();
  }

  #comparison(): ScoreSource {
    const sources = Array.from(this.#options.store.values()).flatMap((object) => {
      return this.#standing(object) === "Ready" ? [sourceOf(object.status)] : [];
    });
    return sources.every((source) => source === "watts") ? "watts" : "capacity";
  }

  #member(object: StoredClusterScore, comparison: ScoreSource): Member {
    const { store, ownLabel } = this.#options;
    const { name = "", annotations = {} } = object.metadata;
    const own = ownClusterScore(store.values())?.metadata.name === name;
    const parsed = parseClusterScore(object);
    const region = parsed.ok ? parsed.value.spec.region : undefined;
    const score = this.#score(object, comparison);
    const standing = this.#standing(object);
    return {
      name,
      own,
      endpoint: parsed.ok ? parsed.value.spec.endpoint : "",
      original: annotations[ORIGINAL] === "true",
      label: own ? ownLabel : region || labelOf(name),
      standing: standing === "Ready" && score === undefined ? "Unscored" : standing,
      score,
    };
  }

  #standing({ metadata, status = {} }: StoredClusterScore) {
    const holds = (type: string) => {
      const said = findCondition(status.conditions, type)?.status;
      return said === undefined || said === "Unknown" ? undefined : said === "True";
    };
    const stored = {
      paused: isPaused({ metadata }),
      isDuplicate: holds("Duplicate") === true,
      reachable: holds("Reachable"),
      scored: holds("Scored"),
      hasScore: (status.score ?? 0) > 0,
      age: this.#age(metadata.name ?? ""),
    };
    return standingOf(stored, this.#options.limit);
  }

  #score({ metadata, status = {} }: StoredClusterScore, comparison: ScoreSource): MemberScore | undefined {
    const { score, free, whole, marginalWatts } = status;
    const age = this.#age(metadata.name ?? "");
    if (score === undefined || score <= 0 || age === undefined) return undefined;
    const about = { free, whole, marginalWatts, age };
    if (sourceOf(status) === comparison) return { ...about, source: comparison, score };
    const cost = costOf(metadata.annotations) ?? status.cost ?? 0;
    const byCapacity = capacityScore(free ?? null, whole ?? null, cost);
    return byCapacity === null ? undefined : { ...about, source: "capacity", score: byCapacity };
  }

  #age(name: string): number | undefined {
    const sighting = this.#sightings.get(name);
    return sighting && Math.max(0, this.#options.clock.now() - sighting.at);
  }

  /** The writer's clock may differ from this one: a timestamp is only believed where its arrival was not seen. */
  #sight(name: string, timestamp: string | undefined, isNew: boolean): void {
    if (timestamp === undefined) this.#sightings.delete(name);
    else if (this.#sightings.get(name)?.timestamp !== timestamp) {
      const now = this.#options.clock.now();
      this.#sightings.set(name, { timestamp, at: isNew ? Math.min(now, Date.parse(timestamp)) : now });
    }
  }
}

/** The name of a ClusterScore as the value of a label, which is shorter. */
function labelOf(name: string): string {
  return name.slice(0, 63).replace(/[.-]+$/, "");
}

/** The original does not say: its scores are watts. */
function sourceOf(status: ClusterScoreStatus | undefined): ScoreSource {
  return status?.source ?? "watts";
}

/** What the annotation says; undefined without one, or if it is no whole number. */
export function costOf(annotations: Readonly<Record<string, string>> = {}): number | undefined {
  const text = annotations[COST] ?? "";
  return /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}
