import { objectKey } from "@evenkeel/runtime";
import type { ApiPath } from "../writes/api-path.ts";
import { isDivided, kindNamed } from "../writes/verb-table.ts";

export type DividedKind = "Deployment" | "StatefulSet";

/** A Deployment or StatefulSet, whichever clusters it is in. */
export interface WorkloadName {
  readonly kind: DividedKind;
  readonly namespace: string;
  readonly name: string;
}

/** The plural of each kind. */
export const DIVIDED_KINDS: Readonly<Record<DividedKind, string>> = {
  Deployment: "deployments",
  StatefulSet: "statefulsets",
};

/** A name as Kubernetes has them; it becomes part of a path. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Reads `Deployment/shop/web`; undefined if it is not the name of a workload. */
export function parseWorkload(text: string): WorkloadName | undefined {
  const [kind = "", namespace = "", name = "", ...rest] = text.split("/");
  return rest.length === 0 ? workloadNamed(kind, namespace, name) : undefined;
}

export function workloadNamed(kind: string, namespace: string, name: string): WorkloadName | undefined {
  const known = kindNamed(kind);
  return isDivided(known) && NAME.test(namespace) && NAME.test(name) ? { kind: known, namespace, name } : undefined;
}

/** `Deployment/shop/web`, as in decisions. */
export function workloadText(workload: WorkloadName): string {
  return objectKey(workload);
}

export function pathOfWorkload({ kind, namespace, name }: WorkloadName): ApiPath {
  const place = { group: "apps", version: "v1", resource: DIVIDED_KINDS[kind], namespace, name };
  return { ...place, subresource: undefined, query: new URLSearchParams() };
}
