import { Badge, numberText, routeLink, shareText } from "@evenkeel/dashboard/browser";
import { useState } from "preact/hooks";
import { count, keyOf, stateOf, type Weight } from "./weight.ts";

/** With more than these, a name is easier typed than looked for. */
const EASILY_SEEN = 8;

export function WeightList({ weights, chosen }: { readonly weights: readonly Weight[]; readonly chosen: Weight }) {
  const [text, setText] = useState("");
  const found = weights.filter(({ rebalance }) => keyOf(rebalance).includes(text.trim()));
  return (
    <div class="weight-list">
      {weights.length > EASILY_SEEN && (
        <input
          type="search"
          aria-label="Find a Rebalance"
          placeholder={`Find one of ${weights.length}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul>
        {found.map((weight) => (
          <Entry key={keyOf(weight.rebalance)} weight={weight} current={weight === chosen} />
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">None has that name.</p>}
    </div>
  );
}

function Entry({ weight, current }: { readonly weight: Weight; readonly current: boolean }) {
  const { rebalance, metric, targetValue, targets } = weight;
  const [tone, word] = stateOf(weight);
  const [first] = targets;
  return (
    <li>
      <a href={routeLink("", { rebalance: keyOf(rebalance) })} aria-current={current ? "true" : undefined}>
        <span class="entry-name">
          <span class="quiet">{rebalance.namespace}/</span>
          <wbr />
          {rebalance.name}
        </span>
        <Badge tone={tone}>{word}</Badge>
        <span class="entry-facts">
          {numberText(metric)} <span class="quiet">of {numberText(targetValue)}</span>
        </span>
        <span class="entry-facts number" title="weight and its share of the traffic">
          {numberText(count(first?.actual))} <span class="quiet">· {shareText(first?.share)}</span>
        </span>
      </a>
    </li>
  );
}
