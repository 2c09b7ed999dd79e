import type { KubeClient } from "../wire/client.ts";
import type { ObjectName } from "./object.ts";
import type { CallOptions } from "./resource.ts";
import { pathSegment } from "../wire/resource-path.ts";

export interface EvictOptions extends CallOptions {
  /** The eviction fails with Conflict if another pod has the name now. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Default the pod's own. */
  readonly gracePeriodSeconds?: number;
  /** Checks everything, including disruption budgets, and evicts nothing. */
  readonly dryRun?: boolean;
}

/**
 * Evicts a pod: the API server deletes it unless a disruption budget forbids it now, which is EvictionBlocked and is
 * not retried here. An overloaded server also answers 429; that is retried and ends as TooManyRequests. NotFound means
 * that the pod is gone already.
 */
export async function evict(
  client: Pick<KubeClient, "request">,
  { namespace = "", name }: ObjectName,
  options: EvictOptions = {},
): Promise<void> {
  const { uid, resourceVersion, gracePeriodSeconds, dryRun, signal, deadline, beforeSend } = options;
  const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  const place = `${pathSegment("evict", "pods", "namespace", namespace)}/pods/${pathSegment("evict", "pods", "name", name)}`;
  await client.request({
    method: "POST",
    path: `/api/v1/namespaces/${place}/eviction`,
    query: { dryRun: dryRun === true ? "All" : undefined },
    verb: "evict",
    what: `pods ${namespace}/${name}`,
    body: {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { namespace, name },
      deleteOptions: { preconditions, gracePeriodSeconds },
    },
    signal,
    beforeSend,
    ...(deadline === undefined ? {} : { deadline }),
  });
}
