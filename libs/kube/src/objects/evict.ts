import type { KubeClient } from "../wire/client.ts";
import type { ObjectName } from "./object.ts";
import type { CallOptions } from "./resource.ts";
import { pathSegment } from "../wire/resource-path.ts";

export interface EvictOptions extends CallOptions {
  /** The eviction fails with Conflict if the name is now another pod's. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** The pod's own unless told. */
  readonly gracePeriodSeconds?: number;
  /** Everything is checked, disruption budgets too, and nothing is done. */
  readonly dryRun?: boolean;
}

/**
 * Asks the API server to evict a pod: it is deleted unless a disruption budget forbids it now, which is EvictionBlocked and is not
 * retried here. A server that has too much to do answers 429 as well; that is retried and at last TooManyRequests. NotFound means
 * that the pod is gone already.
 */
export async function evict(
  client: Pick<KubeClient, "request">,
  { namespace = "", name }: ObjectName,
  options: EvictOptions = {},
): Promise<void> {
  const { uid, resourceVersion, gracePeriodSeconds, dryRun, signal, deadline } = options;
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
    ...(deadline === undefined ? {} : { deadline }),
  });
}
