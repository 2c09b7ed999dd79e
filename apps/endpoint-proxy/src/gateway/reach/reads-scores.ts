import { kubeRequest } from "../kube-path.ts";

const GROUP = "waoendpointproxy.bitmedia.co.jp";

/** Whether a request reads ClusterScores: all that an original may be asked for, and all that it may ask for. */
export function readsScores(method: string, path: string): boolean {
  const request = kubeRequest(method, path);
  if (request?.kind !== "resource") return false;
  const { group, resource, verb } = request;
  return group === GROUP && resource === "clusterscores" && (verb === "get" || verb === "list");
}
