import { type Segment, segmentsText, sumOf } from "./placement.ts";

/** Colours before they repeat. */
const COLOURS = 6;

export interface SplitBarProps {
  readonly label: string;
  readonly segments: readonly Segment[];
  /** Replicas that the full width stands for. */
  readonly most: number;
  /** All clusters: the place in it gives a cluster its colour. */
  readonly clusters: readonly string[];
}

/** The replicas of one workload, a part for each cluster. */
export function SplitBar({ label, segments, most, clusters }: SplitBarProps) {
  const width = most === 0 ? 0 : (sumOf(segments) / most) * 100;
  return (
    <span class="split-track" role="img" aria-label={`${label}: ${segmentsText(segments)}`}>
      <span class="split-bar" style={{ width: `${width}%` }}>
        {segments
          .filter(({ replicas }) => replicas > 0)
          .map(({ cluster, replicas, note }) => (
            <span
              key={cluster}
              class={`split-part ${colourOf(cluster, clusters)}`}
              style={{ flexGrow: replicas }}
              title={`${cluster} ${replicas}${note === "" ? "" : ` (${note})`}`}
            />
          ))}
      </span>
    </span>
  );
}

export function ClusterLegend({ clusters }: { readonly clusters: readonly string[] }) {
  return (
    <ul class="legend">
      {clusters.map((cluster) => (
        <li key={cluster}>
          <span class={`square ${colourOf(cluster, clusters)}`} aria-hidden="true" /> {cluster}
        </li>
      ))}
    </ul>
  );
}

function colourOf(cluster: string, clusters: readonly string[]): string {
  return `cluster-${Math.max(0, clusters.indexOf(cluster)) % COLOURS}`;
}
