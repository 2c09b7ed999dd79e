import { type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";

/** Where a value comes from: an `EndpointTerm` of WAO. */
export interface EndpointTerm {
  readonly type?: string;
  readonly endpoint?: string;
  readonly basicAuthSecret?: { readonly name?: string };
}

/** What is read of a NodeConfig of WAO. */
export interface NodeConfig extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly metricsCollector?: { readonly inletTemp?: EndpointTerm; readonly deltaP?: EndpointTerm };
    readonly predictor?: {
      readonly powerConsumption?: EndpointTerm;
      /** Says type and endpoint instead of `powerConsumption`. */
      readonly powerConsumptionEndpointProvider?: EndpointTerm;
    };
  };
}

/** WAO up to 1.30 has the first group, from 1.31 the second. */
const GROUPS = ["wao.bitmedia.co.jp", "node.waok8s.github.io"];

const types = GROUPS.map((group): ResourceTypeOf<NodeConfig> => {
  return { group, version: "v1beta1", kind: "NodeConfig", plural: "nodeconfigs", namespaced: true };
});

/** NodeConfigs of either group, by the name of their node. The newer group wins. Empty without WAO. */
export async function nodeConfigs(
  kube: Pick<KubeClient, "resource">,
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, NodeConfig>> {
  const lists = await Promise.all(types.map((type) => listed(kube, type, namespace, signal)));
  return new Map(lists.flat().flatMap((config) => (config.spec?.nodeName ? [[config.spec.nodeName, config]] : [])));
}

async function listed(
  kube: Pick<KubeClient, "resource">,
  type: ResourceTypeOf<NodeConfig>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly NodeConfig[]> {
  try {
    const found: NodeConfig[] = [];
    for await (const { items } of kube.resource(type).pages({ namespace, signal })) found.push(...items);
    return found;
  } catch (error) {
    if (error instanceof kubeErrors.NotFound) return [];
    throw error;
  }
}
