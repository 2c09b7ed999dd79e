import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { Route53NoRecord, Route53NotWeighted } from "../../errors.ts";
import type { TargetState } from "../weight-target.ts";
import { canonicalName, displayName } from "./record-name.ts";

/** Which record a spec means. */
export interface RecordId {
  /** The zone's id without a prefix. */
  readonly zone: string;
  /** Canonical. */
  readonly name: string;
  readonly type: string;
  readonly identifier: string | undefined;
}

/** A record set that has a weight. Everything else about it is kept as it was read. */
export type WeightedRecord = ResourceRecordSet & { readonly SetIdentifier: string; readonly Weight: number };

/** The routing policies except Weighted, by the field that only they have. */
const POLICIES = {
  Region: "latency",
  Failover: "failover",
  GeoLocation: "geolocation",
  GeoProximityLocation: "geoproximity",
  MultiValueAnswer: "multivalue answer",
  CidrRoutingConfig: "IP-based",
} as const satisfies Partial<Record<keyof ResourceRecordSet, string>>;

/** Milliseconds for which resolvers cache an alias to a load balancer or distribution, which has no TTL. */
const ALIAS_TIME_TO_LIVE = 60_000;

/** Identifiers that a message lists at most. */
const MOST_LISTED = 20;

/** The same text for the same record, to be a key. */
export function recordKey({ name, type, identifier = "" }: Omit<RecordId, "zone">): string {
  return [name, type, identifier].join("\0");
}

/** How messages name the record: `route53 Z1/www.example.com A blue`. */
export function describeRecord({ zone, name, type, identifier }: RecordId): string {
  return ["route53", `${zone}/${displayName(name)}`, type, ...(identifier === undefined ? [] : [identifier])].join(" ");
}

/** The record among those of its name. Throws a terminal error that says what is there instead. */
export function findWeighted(id: RecordId, sameName: readonly ResourceRecordSet[]): WeightedRecord {
  const target = describeRecord(id);
  const sameType = sameName.filter(({ Type }) => Type === id.type);
  if (sameType.length === 0) throw new Route53NoRecord({ target, found: typesOf(sameName) });
  const record = sameType.find(({ SetIdentifier }) => SetIdentifier === id.identifier);
  if (record === undefined) {
    const simple = sameType.find(({ SetIdentifier }) => SetIdentifier === undefined);
    if (simple) throw new Route53NotWeighted({ target, found: "the existing record has no set identifier" });
    throw new Route53NoRecord({ target, found: identifiersOf(id, sameType) });
  }
  if (isWeighted(record)) return record;
  throw new Route53NotWeighted({ target, found: `its routing policy is ${policyOf(record)}` });
}

/** The weighted records of the same name and type, the record itself among them. */
export function weightedSet(
  { type }: Pick<RecordId, "type">,
  sameName: readonly ResourceRecordSet[],
): readonly WeightedRecord[] {
  return sameName.filter((record) => record.Type === type).filter(isWeighted);
}

/** What the record is now. Throws as `findWeighted` does. */
export function recordState(id: RecordId, sameName: readonly ResourceRecordSet[], pending: boolean): TargetState {
  const record = findWeighted(id, sameName);
  const others = weightedSet(id, sameName).filter((other) => other !== record);
  return {
    weight: record.Weight,
    others: others.map(({ SetIdentifier, Weight }) => ({ name: SetIdentifier, weight: Weight })),
    timeToLive: record.TTL === undefined ? ALIAS_TIME_TO_LIVE : record.TTL * 1000,
    pending,
  };
}

/** The records of `sameName` with the weight of one replaced. */
export function withWeight(
  id: Omit<RecordId, "zone">,
  sameName: readonly ResourceRecordSet[],
  weight: number,
): readonly ResourceRecordSet[] {
  const key = recordKey(id);
  return sameName.map((record) => (recordKey(idOf(record)) === key ? { ...record, Weight: weight } : record));
}

function idOf({ Name = "", Type, SetIdentifier }: ResourceRecordSet): Omit<RecordId, "zone"> {
  return { name: canonicalName(Name), type: Type ?? "", identifier: SetIdentifier };
}

function isWeighted(record: ResourceRecordSet): record is WeightedRecord {
  return record.SetIdentifier !== undefined && record.Weight !== undefined;
}

function policyOf(record: ResourceRecordSet): string {
  const field = (Object.keys(POLICIES) as (keyof typeof POLICIES)[]).find((name) => record[name] !== undefined);
  return field === undefined ? "simple" : POLICIES[field];
}

function typesOf(sameName: readonly ResourceRecordSet[]): string {
  const types = [...new Set(sameName.map(({ Type = "?" }) => Type))];
  return types.length === 0
    ? "the zone has no record with that name"
    : `the types of that name are ${types.join(", ")}`;
}

function identifiersOf({ identifier }: RecordId, sameType: readonly ResourceRecordSet[]): string {
  const names = sameType.flatMap(({ SetIdentifier }) => SetIdentifier ?? []);
  const listed = names.slice(0, MOST_LISTED).join(", ");
  const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : "";
  const why =
    identifier === undefined
      ? "the spec has no identifier; the identifiers that exist are"
      : "the identifiers that exist are";
  return `${why} ${listed}${more}`;
}
