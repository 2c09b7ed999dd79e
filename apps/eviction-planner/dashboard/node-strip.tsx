import { Card, shareText } from "@evenkeel/dashboard/browser";
import type { NodeLevel, Plan } from "./plan.ts";

/** How full each node is now, and as the plan foresees it: one bar each, the hottest first. */
export function NodeStrip({ plan: { nodes, nodeCount, hotThreshold } }: { readonly plan: Plan }) {
  const aside = nodes.length < nodeCount ? `the hottest ${nodes.length} of ${nodeCount}` : undefined;
  return (
    <Card title="Hottest nodes" aside={aside}>
      <ul class="node-strip">
        {nodes.map((node) => (
          <NodeBar key={node.name} node={node} hot={node.now !== undefined && node.now >= hotThreshold} />
        ))}
      </ul>
      <ul class="legend">
        <li>
          <span class="square node-now" aria-hidden="true" /> now
        </li>
        <li>
          <span class="square node-after" aria-hidden="true" /> after the plan
        </li>
      </ul>
    </Card>
  );
}

function NodeBar({ node: { name, now, predicted }, hot }: { readonly node: NodeLevel; readonly hot: boolean }) {
  const label =
    now === undefined ? `${name}: unknown` : `${name}: ${shareText(now)} now, ${shareText(predicted)} after the plan`;
  return (
    <li title={label}>
      <span class="node-name">{name}</span>
      <span class="node-track" role="img" aria-label={label}>
        {now !== undefined && <span class={`node-now ${hot ? "hot" : ""}`} style={{ width: width(now) }} />}
        {predicted !== undefined && <span class="node-after" style={{ width: width(predicted) }} />}
      </span>
      <span class="node-text number">{now === undefined ? "unknown" : shareText(now)}</span>
    </li>
  );
}

/** Nodes may use more than they have. */
function width(level: number): string {
  return `${Math.min(100, Math.max(0, level * 100))}%`;
}
