import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { recordKey, type RecordId, weightedSet } from "./weighted-record.ts";

/** A weight that a record is to have. */
export interface WeightChange {
  readonly id: RecordId;
  readonly weight: number;
}

/**
 * Limits of one request. A record counts twice, because it is deleted and created.
 * https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html
 */
const MOST_ELEMENTS = 1000;
const MOST_CHARACTERS = 32_000;
const EACH_COUNTS = 2;

/** How many records, from the first on, fit into one batch: at least one, if there is any. */
export function batchSize(records: readonly ResourceRecordSet[]): number {
  let elements = 0;
  let characters = 0;
  const tooMany = records.findIndex(({ ResourceRecords = [] }) => {
    elements += EACH_COUNTS * Math.max(1, ResourceRecords.length);
    for (const { Value = "" } of ResourceRecords) characters += EACH_COUNTS * Value.length;
    return elements > MOST_ELEMENTS || characters > MOST_CHARACTERS;
  });
  return tooMany === -1 ? records.length : Math.max(1, tooMany);
}

/**
 * The changes that must be refused, because they would leave every weighted record of a name and type at 0. Changes
 * that raise a weight are applied before those that lower one to 0. Of the latter, all are applied in order except the
 * one that would lower the last weight.
 */
export function allZeroChanges<W extends WeightChange>(
  changes: readonly W[],
  recordsOf: (name: string) => readonly ResourceRecordSet[],
): ReadonlySet<W> {
  const refused = new Set<W>();
  for (const set of Map.groupBy(changes, ({ id }) => recordKey({ ...id, identifier: undefined })).values()) {
    const [first] = set;
    if (first === undefined) continue;
    const weights = new Map(weightedSet(first.id, recordsOf(first.id.name)).map((r) => [r.SetIdentifier, r.Weight]));
    for (const { id, weight } of set) if (weight > 0) weights.set(id.identifier ?? "", weight);
    for (const change of set) {
      if (change.weight > 0) continue;
      const others = [...weights].filter(([identifier]) => identifier !== change.id.identifier);
      if (others.every(([, weight]) => weight === 0)) refused.add(change);
      else weights.set(change.id.identifier ?? "", 0);
    }
  }
  return refused;
}
