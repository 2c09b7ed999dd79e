import { nameKey, type Resource } from "@evenkeel/kube";
import { objectFilter, objectNamed, pausing, watchBoard } from "@evenkeel/operator";
import { type commonV1, rpcErrors, scoresV1, type Served } from "@evenkeel/rpc";
import { clusterScores, type StoredClusterScore } from "../cluster-score-resource.ts";
import type { ScoreBoard } from "./score-view.ts";

export interface ScoresServiceOptions {
  readonly board: ScoreBoard;
  readonly resource: Pick<Resource<StoredClusterScore>, "patch">;
}

interface ObjectRequest {
  readonly object?: commonV1.ObjectName | undefined;
}

/** `evenkeel.scores.v1.ClusterScores`. */
export function scoresService({ board, resource }: ScoresServiceOptions): Served<scoresV1.ClusterScoresDefinition> {
  const { methods, access } = pausing<ObjectRequest>({
    type: clusterScores,
    resource,
    asked: ({ object }) => ({ namespace: object?.namespace ?? "", name: object?.name ?? "" }),
    known: (method, { object }) => {
      const named = objectNamed(method, "object", object);
      if (!board.get(nameKey(named))) throw new rpcErrors.NotFound({ what: `ClusterScore ${nameKey(named)}` });
      return named;
    },
  });
  return {
    definition: scoresV1.ClusterScoresDefinition,
    implementation: {
      get: (request) => {
        const keys = board.keys().filter(objectFilter("Get", request));
        return Promise.resolve({ clusters: keys.flatMap((key) => board.get(key) ?? []) });
      },
      watch: (request, { signal }) =>
        watchBoard(board, {
          selects: objectFilter("Watch", request),
          event: (value) => ({ $case: "cluster", value }) as const,
          signal,
        }),
      ...methods,
    },
    access,
    namesObjects: true,
  };
}
