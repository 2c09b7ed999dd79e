import { parseRebalancePolicy, REBALANCE_POLICY } from "@evenkeel/api";
import type { PlanSnapshot } from "../decide/snapshot.ts";

/** The policy of a plan without one: the defaults of every field, for all workloads outside of kube-system. */
export function defaultPolicy(): PlanSnapshot["policy"] {
  const { group, version, kind } = REBALANCE_POLICY;
  const name = "default";
  const spec = { namespaces: { include: ["*"], exclude: ["kube-system"] } };
  const parsed = parseRebalancePolicy({ apiVersion: `${group}/${version}`, kind, metadata: { name }, spec });
  if (!parsed.ok) throw new Error(`the default policy does not parse: ${parsed.errors.join("; ")}`);
  return { name, spec: parsed.value.spec };
}
