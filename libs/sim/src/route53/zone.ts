import { isDeepStrictEqual } from "node:util";
import { type Change, described } from "./change.ts";
import { canonicalName, type RecordSet, sortKey, writeRecordSet } from "./record-set.ts";
import { invalidBatch } from "./route53-fault.ts";

/**
 * What a batch made of a record set; `before` or `after` is absent where there was or is none. A record set that is
 * deleted and created again in one batch is replaced: that is one effect.
 */
export interface Effect {
  readonly action: Change["action"] | "REPLACE";
  readonly name: string;
  readonly type: string;
  readonly setIdentifier?: string;
  readonly before?: RecordSet;
  readonly after?: RecordSet;
}

export interface Page {
  readonly records: readonly RecordSet[];
  /** The record set that the next page begins with; absent on the last page. */
  readonly next?: RecordSet;
}

/** The most weighted record sets of one name and type. */
const MOST_WEIGHTED = 100;

/** A hosted zone: its record sets in the order of lists. It begins with the NS and SOA sets of its apex. */
export class Zone {
  readonly id: string;
  readonly name: string;
  #records: ReadonlyMap<string, RecordSet>;

  constructor(id: string, name: string) {
    this.id = id;
    this.name = canonicalName(name);
    const soa = "ns-1.awsdns-01.org. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400";
    this.#records = ordered([
      { name: this.name, type: "NS", ttl: 172_800, values: ["ns-1.awsdns-01.org.", "ns-2.awsdns-02.com."] },
      { name: this.name, type: "SOA", ttl: 900, values: [soa] },
    ]);
  }

  get records(): readonly RecordSet[] {
    return [...this.#records.values()];
  }

  /** Up to `limit` record sets from `start`, a key of `sortKey`, on. */
  page(start: string, limit: number): Page {
    const rest = this.records.filter((record) => keyOf(record) >= start);
    const next = rest[limit];
    return { records: rest.slice(0, limit), ...(next && { next }) };
  }

  /** Makes all changes in their order, or none: then it throws InvalidChangeBatch with every reason. */
  apply(changes: readonly Change[]): Effect[] {
    const records = new Map(this.#records);
    const reasons: string[] = [];
    const effects = new Map<string, Effect>();
    for (const { action, record } of changes) {
      const key = keyOf(record);
      const before = records.get(key);
      const reason = this.#whyNot({ action, record }, before);
      if (reason !== undefined) reasons.push(reason);
      if (action === "DELETE") records.delete(key);
      else records.set(key, record);
      const { name, type, setIdentifier } = record;
      const deleted = effects.get(key)?.before;
      const first = deleted ?? before;
      effects.set(key, {
        ...{ action: deleted ? "REPLACE" : action, name, type },
        ...(setIdentifier !== undefined && { setIdentifier }),
        ...(first && { before: first }),
        ...(action !== "DELETE" && { after: record }),
      });
    }
    const touched = new Set(changes.map(({ record }) => groupOf(record)));
    for (const group of touched)
      reasons.push(...groupFaults([...records.values()].filter((set) => groupOf(set) === group)));
    if (reasons.length > 0) throw invalidBatch(reasons);
    this.#records = ordered(records.values());
    return [...effects.values()];
  }

  #whyNot({ action, record }: Change, before: RecordSet | undefined): string | undefined {
    const { name, type } = record;
    if (name !== this.name && !name.endsWith(`.${this.name}`))
      return `RRSet with DNS name ${name} is not permitted in zone ${this.name}`;
    if (action === "CREATE" && before)
      return `Tried to create resource record set ${described(record)} but it already exists`;
    if (action !== "DELETE") return undefined;
    if (!before) return `Tried to delete resource record set ${described(record)} but it was not found`;
    if (!isDeepStrictEqual(writeRecordSet(record), writeRecordSet(before)))
      return `Tried to delete resource record set ${described(record)} but the values provided do not match the current values`;
    if (name === this.name && (type === "SOA" || type === "NS"))
      return `A HostedZone must contain one ${type} record set`;
    return undefined;
  }
}

/** What record sets of one name and type may not be together. */
function groupFaults(group: readonly RecordSet[]): string[] {
  const [first] = group;
  if (first === undefined) return [];
  const weighted = group.filter(({ weight }) => weight !== undefined);
  const reasons: string[] = [];
  if (weighted.length > 0 && weighted.length < group.length)
    reasons.push(`RRSets with DNS name ${first.name} and type ${first.type} must be all weighted or none`);
  if (weighted.length > MOST_WEIGHTED)
    reasons.push(`${first.name} with type ${first.type} has more than ${MOST_WEIGHTED} weighted RRSets`);
  if (new Set(weighted.flatMap(({ ttl }) => ttl ?? [])).size > 1)
    reasons.push(`Weighted RRSets with DNS name ${first.name} and type ${first.type} must have the same TTL`);
  return reasons;
}

function keyOf({ name, type, setIdentifier }: RecordSet): string {
  return sortKey(name, type, setIdentifier);
}

function groupOf({ name, type }: RecordSet): string {
  return sortKey(name, type);
}

function ordered(records: Iterable<RecordSet>): Map<string, RecordSet> {
  const entries = [...records].map((record): [string, RecordSet] => [keyOf(record), record]);
  return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
