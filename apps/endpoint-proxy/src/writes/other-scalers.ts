import { type Json, listAt, textAt } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { pathOf } from "./api-path.ts";
import { isDone, type MemberCalls } from "./member-calls.ts";
import type { ManyWrite, Plan } from "./member-steps.ts";

/** Kinds that scale a workload by `spec.scaleTargetRef`. KEDA does it by a HorizontalPodAutoscaler of its own. */
const SCALERS = [
  ["HorizontalPodAutoscaler", { group: "autoscaling", version: "v2", resource: "horizontalpodautoscalers" }],
  ["ElastiService", { group: "elasti.truefoundry.com", version: "v1alpha1", resource: "elastiservices" }],
] as const;

/**
 * A Warning for each object that may undo a write of replicas, in the members that hold the workload. What the caller
 * may not list there is not reported. Empty if the write leaves the replicas as they are.
 */
export async function otherScalers(
  calls: MemberCalls,
  members: readonly Member[],
  { kind, path }: ManyWrite,
  { held, split }: Plan,
): Promise<readonly string[]> {
  const { namespace, name = "" } = path;
  if (split?.verdict.action !== "split") return [];
  const found = await Promise.all(
    members
      .filter((member) => held.has(member.name))
      .flatMap((member) =>
        SCALERS.map(async ([scaler, resource]) => {
          const place = pathOf({ ...resource, namespace, name: undefined });
          const reply = await calls.call(member, { method: "GET", path: place });
          const items = isDone(reply) ? listAt(reply.json, ["items"]) : [];
          return items
            .filter((item) => scales(item, kind, name))
            .map((item) => `${scaler} ${textAt(item, ["metadata", "name"]) ?? ""} of cluster ${member.name}`);
        }),
      ),
  );
  return found.flat().map((who) => `${name}: ${who} scales this workload and may undo the number of replicas`);
}

/** An ElastiService may name the kind by its plural, `deployments`. */
function scales(item: Json, kind: string, name: string): boolean {
  const target = (field: string): string => textAt(item, ["spec", "scaleTargetRef", field]) ?? "";
  return target("name") === name && target("kind").toLowerCase().replace(/s$/, "") === kind.toLowerCase();
}
