import { Badge, Empty, numberText, ObjectsPage, type PageProps } from "@evenkeel/dashboard/browser";
import { type Policy, stateOf } from "./plan.ts";
import { PlanDetail } from "./plan-detail.tsx";

/** Every RebalancePolicy, and the plan of the chosen one. */
export function PoliciesPage({ query, ...page }: PageProps) {
  return (
    <ObjectsPage<Policy>
      api={page.api}
      query={query}
      kind="RebalancePolicy"
      watch="Evictions/Watch"
      field="plan"
      nameOf={({ policy }) => policy}
      empty={
        <Empty title="No RebalancePolicies">
          Create one: <code>kubectl apply -f policy.yaml</code>
        </Empty>
      }
      entry={(policy) => <Entry {...policy} />}
      detail={(policy) => <PlanDetail {...page} policy={policy} />}
    />
  );
}

function Entry(policy: Policy) {
  const [tone, word] = stateOf(policy);
  return (
    <>
      <Badge tone={tone}>{word}</Badge>
      <span class="entry-facts number" title="σ now and as the plan foresees it">
        {numberText(policy.plan?.sigma)} <span class="quiet">→ {numberText(policy.plan?.predicted)}</span>
      </span>
    </>
  );
}
