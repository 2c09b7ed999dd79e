import { Badge, Card, numberText } from "@evenkeel/dashboard/browser";
import type { Collector, Shares } from "./fleet.ts";

/** The load of each collector as a bar, the most loaded first, with a mark at the mean. */
export function CollectorBars({ shares: { collectors, collectorCount } }: { readonly shares: Shares }) {
  const aside = collectors.length < collectorCount ? `the first ${collectors.length} of ${collectorCount}` : undefined;
  const most = Math.max(...collectors.map(({ load }) => load), Number.MIN_VALUE);
  const mean = collectors.reduce((sum, { load }) => sum + load, 0) / Math.max(1, collectors.length);
  return (
    <Card title="Collectors" aside={aside}>
      <ul class="collector-bars">
        {collectors.map((collector) => (
          <Bar key={collector.name} collector={collector} share={collector.load / most} mean={mean / most} />
        ))}
      </ul>
    </Card>
  );
}

interface BarProps {
  readonly collector: Collector;
  readonly share: number;
  readonly mean: number;
}

function Bar({ collector: { name, load, targets, node, zone, leaving, away }, share, mean }: BarProps) {
  const label = `${name}: load ${numberText(load)}, ${targets} targets`;
  return (
    <li title={[label, node, zone].filter((text) => text !== "").join(", ")}>
      <span class="collector-name">{name}</span>
      <span class="collector-track" role="img" aria-label={label}>
        <span class={`collector-load ${away ? "away" : ""}`} style={{ width: `${share * 100}%` }} />
        <span class="collector-mean" style={{ left: `${mean * 100}%` }} aria-hidden="true" />
      </span>
      <span class="collector-text number">
        {numberText(load)} <span class="quiet">{targets} targets</span>
      </span>
      <span>
        {leaving && <Badge tone="quiet">Leaving</Badge>}
        {away && <Badge tone="warn">Away</Badge>}
      </span>
    </li>
  );
}
