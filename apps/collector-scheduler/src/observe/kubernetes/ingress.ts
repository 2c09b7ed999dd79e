import type { Ingress } from "@evenkeel/kube";
import type { TargetGroup } from "../target-group.ts";
import { ADDRESS, type LabelDraft, META, NAMESPACE, put } from "./meta-labels.ts";
import { addNamespace, type Surroundings } from "./surroundings.ts";

const SCHEME = `${META}ingress_scheme`;
const HOST = `${META}ingress_host`;
const PATH = `${META}ingress_path`;
const CLASS_NAME = `${META}ingress_class_name`;

/** Role ingress: one target for each path of each rule, by the rule's host. */
export function ingressGroup(ingress: Ingress, around: Surroundings): TargetGroup {
  const { namespace = "", name = "" } = ingress.metadata;
  const { rules = [], tls = [], ingressClassName } = ingress.spec ?? {};
  const labels: LabelDraft = new Map();
  put(labels, NAMESPACE, namespace);
  put(labels, CLASS_NAME, ingressClassName);
  around.names.addObject(labels, ingress, "ingress");
  addNamespace(labels, namespace, around);

  const secured = tls.flatMap(({ hosts = [] }) => hosts);
  const targets = rules.flatMap(({ host = "", http }) => {
    const scheme = secured.some((pattern) => isHostOf(pattern, host)) ? "https" : "http";
    const paths = http === undefined ? [{}] : http.paths;
    return paths.map(({ path = "" }: { readonly path?: string }) => {
      const target: LabelDraft = new Map();
      put(target, ADDRESS, host);
      put(target, SCHEME, scheme);
      put(target, HOST, host);
      put(target, PATH, path === "" ? "/" : path);
      return target;
    });
  });
  return { source: `ingress/${namespace}/${name}`, labels, targets };
}

/** Whether a certificate's host is the rule's: the same, or `*` in place of the first part. */
function isHostOf(pattern: string, host: string): boolean {
  if (pattern === host) return true;
  const [wildcard, ...ending] = pattern.split(".");
  const [, ...hostEnding] = host.split(".");
  return wildcard === "*" && ending.length === hostEnding.length && ending.join(".") === hostEnding.join(".");
}
