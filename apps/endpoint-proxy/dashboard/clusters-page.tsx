import { Badge, Empty, ObjectsPage, type PageProps } from "@evenkeel/dashboard/browser";
import { type Cluster, scoreText, toneOf } from "./cluster.ts";
import { ClusterDetail } from "./cluster-detail.tsx";
import { Workloads } from "./workloads.tsx";

/** Workloads over the clusters, the last writes, every cluster that takes part, and what is known of the chosen one. */
export function ClustersPage({ query, ...page }: PageProps) {
  return (
    <>
      <Workloads {...page} />
      <ObjectsPage<Cluster>
        api={page.api}
        query={query}
        kind="ClusterScore"
        watch="ClusterScores/Watch"
        field="cluster"
        nameOf={({ name }) => name}
        empty={
          <Empty title="No ClusterScores">
            The leader creates that of its own cluster. Add others: <code>kubectl apply -f clusterscore.yaml</code>
          </Empty>
        }
        entry={(cluster) => <Entry {...cluster} />}
        detail={(cluster) => <ClusterDetail {...page} cluster={cluster} />}
      />
    </>
  );
}

function Entry(cluster: Cluster) {
  return (
    <>
      <Badge tone={toneOf(cluster)}>{cluster.standing}</Badge>
      <span class="entry-facts number" title="Score">
        {scoreText(cluster.score, cluster.source)} {cluster.own && <span class="quiet">own</span>}
      </span>
    </>
  );
}
