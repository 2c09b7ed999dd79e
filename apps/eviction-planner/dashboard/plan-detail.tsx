import {
  Badge,
  Card,
  Conditions,
  Empty,
  keyOf,
  LastDecisions,
  numberText,
  ObjectHead,
  type PageProps,
  shareText,
  Stat,
  useDecisionsOf,
} from "@evenkeel/dashboard/browser";
import { Budgets } from "./budgets.tsx";
import { HeatStrip } from "./heat-strip.tsx";
import { NodeStrip } from "./node-strip.tsx";
import { type Move, type Plan, type Policy, stateOf, type Stay } from "./plan.ts";
import { Prices } from "./prices.tsx";
import { SigmaChart } from "./sigma-chart.tsx";

export interface PlanDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly policy: Policy;
}

/** One RebalancePolicy: how level the nodes are, what the plan would move, and what stays. */
export function PlanDetail({ policy, ...page }: PlanDetailProps) {
  const { plan, conditions } = policy;
  const key = keyOf(policy.policy);
  const object = `RebalancePolicy/${key}`;
  const decisions = useDecisionsOf(object, page);
  return (
    <article class="plan-detail" aria-label={key}>
      <Head policy={policy} act={page.act} />
      {plan === undefined ? (
        <Empty title="No plan yet">The replica that leads makes a plan at each sync period.</Empty>
      ) : (
        <>
          <Facts plan={plan} />
          <HeatStrip plan={plan} />
          <SigmaChart policy={policy} api={page.api} />
          <NodeStrip plan={plan} />
          <Moves plan={plan} />
          <Stays stays={plan.stays} />
          <Budgets budgets={plan.budgets} />
          <Prices policy={key} api={page.api} />
        </>
      )}
      <Conditions conditions={conditions} neutral={["Converged"]} />
      <LastDecisions {...page} {...{ object, decisions }} />
    </article>
  );
}

function Head({ policy, act }: Pick<PlanDetailProps, "policy" | "act">) {
  const { policy: name, paused, dryRun } = policy;
  const [tone, word] = stateOf(policy);
  const title = paused ? "Resume" : "Pause";
  const consequence = paused
    ? `Plans are made for ${name.name} again, from the next sync period on.`
    : `No plan is made for ${name.name}, and nothing is evicted for it, until you resume it.`;
  const action = { title, consequence, method: `Evictions/${title}`, request: { policy: name.name } };
  return (
    <ObjectHead name={name} decided={policy} actions={[action]} act={act}>
      <Badge tone={tone}>{word}</Badge>
      {dryRun && word !== "Dry run" && <Badge tone="quiet">Dry run</Badge>}
    </ObjectHead>
  );
}

function Facts({ plan: { sigma, predicted, lowerBound, hotNodes, coldNodes, nodeCount, moveCount } }: PlanProps) {
  return (
    <div class="stats">
      <Stat label="σ now" value={numberText(sigma)} note="standard deviation of node utilisation" />
      <Stat
        label="σ after the plan"
        value={numberText(predicted)}
        note={`${moveCount} ${moveCount === 1 ? "eviction" : "evictions"}`}
      />
      <Stat label="Bound" value={numberText(lowerBound)} note="as many evictions cannot do better" />
      <Stat
        label="Hot nodes"
        value={String(hotNodes)}
        note={`${coldNodes} cold, of ${nodeCount}`}
        tone={hotNodes > 0 ? "warn" : undefined}
      />
    </div>
  );
}

interface PlanProps {
  readonly plan: Plan;
}

function Moves({ plan: { moves, moveCount } }: PlanProps) {
  const aside = moves.length < moveCount ? `the first ${moves.length} of ${moveCount}` : undefined;
  return (
    <Card title="Planned evictions" aside={aside}>
      {moves.length === 0 ? (
        <Empty title="None" />
      ) : (
        <table>
          <thead>
            <tr>
              <th>Pod</th>
              <th>From</th>
              <th>Lands probably on</th>
              <th>Counts in</th>
              <th class="number">Lowers σ by</th>
            </tr>
          </thead>
          <tbody>
            {moves.map((move) => (
              <MoveRow key={move.pod} {...move} />
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function MoveRow({ pod, workload, from, landings, gain, limits }: Move) {
  return (
    <tr>
      <td>
        {pod}
        <span class="plan-note">{workload}</span>
      </td>
      <td>{from}</td>
      <td>
        {landings.map(({ node, probability }) => (
          <span key={node} class="plan-landing">
            {node} <span class="quiet">{shareText(probability)}</span>
          </span>
        ))}
      </td>
      <td>
        {limits.map((limit) => (
          <span key={limit} class="plan-note">
            {limit}
          </span>
        ))}
      </td>
      <td class="number">{numberText(gain)}</td>
    </tr>
  );
}

function Stays({ stays }: { readonly stays: readonly Stay[] }) {
  return (
    <Card title="Pods of hot nodes that stay">
      {stays.length === 0 ? (
        <Empty title="None" />
      ) : (
        <table>
          <thead>
            <tr>
              <th>Reason</th>
              <th class="number">Pods</th>
              <th>Such as</th>
            </tr>
          </thead>
          <tbody>
            {stays.map(({ reason, sentence, pods, example }) => (
              <tr key={reason}>
                <td>
                  <Badge tone="quiet">{reason}</Badge>
                  <span class="plan-note">{sentence}</span>
                </td>
                <td class="number">{pods}</td>
                <td>{example}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
