import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { recordKey, type RecordId, weightedSet } from "./weighted-record.ts";

/** A weight that a record is to have. */
export interface Wish {
  readonly id: RecordId;
  readonly weight: number;
}

/** What one request takes; an UPSERT counts twice. https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html */
const MOST_ELEMENTS = 1000;
const MOST_CHARACTERS = 32_000;
const UPSERT_COUNTS = 2;

/** How many of the records, from the first on, one batch takes: at least one, if there is any. */
export function batchSize(records: readonly ResourceRecordSet[]): number {
  let elements = 0;
  let characters = 0;
  const tooMany = records.findIndex(({ ResourceRecords = [] }) => {
    elements += UPSERT_COUNTS * Math.max(1, ResourceRecords.length);
    for (const { Value = "" } of ResourceRecords) characters += UPSERT_COUNTS * Value.length;
    return elements > MOST_ELEMENTS || characters > MOST_CHARACTERS;
  });
  return tooMany === -1 ? records.length : Math.max(1, tooMany);
}

/**
 * Those of the wishes that may not come true, because they would leave every weighted record of a name and type at 0. What raises a
 * weight counts before what lowers one to 0; of these the earlier comes true and the one that would be the last to go does not.
 */
export function allZeroWishes<W extends Wish>(
  wishes: readonly W[],
  recordsOf: (name: string) => readonly ResourceRecordSet[],
): ReadonlySet<W> {
  const refused = new Set<W>();
  for (const set of Map.groupBy(wishes, ({ id }) => recordKey({ ...id, identifier: undefined })).values()) {
    const [first] = set;
    if (first === undefined) continue;
    const weights = new Map(weightedSet(first.id, recordsOf(first.id.name)).map((r) => [r.SetIdentifier, r.Weight]));
    for (const { id, weight } of set) if (weight > 0) weights.set(id.identifier ?? "", weight);
    for (const wish of set) {
      if (wish.weight > 0) continue;
      const others = [...weights].filter(([identifier]) => identifier !== wish.id.identifier);
      if (others.every(([, weight]) => weight === 0)) refused.add(wish);
      else weights.set(wish.id.identifier ?? "", 0);
    }
  }
  return refused;
}
