import { parseClusterScore } from "@evenkeel/api";
import type { StoredClusterScore } from "../cluster-score-resource.ts";

/** The own cluster's ClusterScore: of those that say `owncluster`, the oldest. */
export function ownClusterScore(objects: Iterable<StoredClusterScore>): StoredClusterScore | undefined {
  return Array.from(objects)
    .filter((object) => {
      const parsed = parseClusterScore(object);
      return parsed.ok && parsed.value.spec.owncluster;
    })
    .sort(byAge)[0];
}

/** The oldest first; of the same second, by name. */
export function byAge(a: StoredClusterScore, b: StoredClusterScore): number {
  return ageKey(a) < ageKey(b) ? -1 : 1;
}

function ageKey({ metadata: { creationTimestamp = "", name = "" } }: StoredClusterScore): string {
  return `${creationTimestamp} ${name}`;
}
