import { readFile } from "node:fs/promises";
import { parseRebalancePolicy } from "@evenkeel/api";
import { BadPolicy } from "@evenkeel/eviction-planner/observe";
import type { PlanSnapshot } from "@evenkeel/eviction-planner/plan";
import { parseManifests } from "@evenkeel/kube";
import { explain } from "@evenkeel/runtime";
import { fieldsOf, textOf } from "../wire.ts";

/** The one RebalancePolicy of a file, in YAML or JSON. */
export async function readPolicy(file: string): Promise<PlanSnapshot["policy"]> {
  const refuse = (fault: string): never => {
    throw new BadPolicy({ file, fault });
  };
  const text = await readFile(file, "utf8").catch((error: unknown) => refuse(explain(error)));
  const policies = objectsOf(text, refuse).filter((object) => textOf(fieldsOf(object)["kind"]) === "RebalancePolicy");
  if (policies.length !== 1) return refuse(`it has ${policies.length} RebalancePolicies, not one`);
  const parsed = parseRebalancePolicy(policies[0]);
  if (!parsed.ok) return refuse(parsed.errors.join("; "));
  const { metadata, spec } = parsed.value;
  return { name: metadata.name, spec };
}

function objectsOf(text: string, refuse: (fault: string) => never): readonly unknown[] {
  try {
    return parseManifests(text);
  } catch (error) {
    return refuse(explain(error));
  }
}
