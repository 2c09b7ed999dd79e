import { type CustomResourceDefinition, customResourceDefinitions, type KubeClient, kubeErrors } from "@evenkeel/kube";
import type { DecidedKind } from "../services/registration.ts";
import { type Finding, unanswered } from "./finding.ts";

/** The chart of the service installs the CRD. */
const INSTALL = "Upgrade the release of the service's chart, with its value crds.enabled=true: helm upgrade --install";

/** Whether the CRD of a kind is installed, serves the version that the service uses, and is established. */
export async function checkDefinition(
  kube: Pick<KubeClient, "resource" | "serves">,
  kind: DecidedKind,
): Promise<Finding> {
  const name = `${kind.plural}.${kind.group}`;
  try {
    return judged(name, kind.version, await kube.resource(customResourceDefinitions).get({ name }));
  } catch (error) {
    if (error instanceof kubeErrors.NotFound)
      return { area: "crds", verdict: "fail", message: `${name} is missing`, fix: INSTALL };
    if (!(error instanceof kubeErrors.Forbidden)) return unanswered("crds", "fail", `${name} was not checked`, error);
    return byDiscovery(kube, name, kind);
  }
}

function judged(name: string, version: string, { spec, status }: CustomResourceDefinition): Finding {
  const found = spec.versions.find((one) => one.name === version);
  if (found?.served !== true) {
    const served = spec.versions.filter((one) => one.served).map((one) => one.name);
    const message = `${name} serves ${served.join(", ") || "no version"}, not ${version}`;
    return { area: "crds", verdict: "fail", message, fix: INSTALL };
  }
  const established = status?.conditions?.find(({ type }) => type === "Established");
  if (established?.status !== "True") {
    const faulty = status?.conditions?.find((one) => one.status === "False");
    const message = `${name} is not established${faulty?.reason === undefined ? "" : ` (${faulty.reason})`}`;
    return { area: "crds", verdict: "fail", message, fix: `The conditions say why: kubectl describe crd ${name}` };
  }
  return { area: "crds", verdict: "ok", message: `${name} serves ${version} and is established` };
}

/** For users who may not read CRDs. */
async function byDiscovery(kube: Pick<KubeClient, "serves">, name: string, kind: DecidedKind): Promise<Finding> {
  const { group, version, plural, scope } = kind;
  try {
    const type = { group, version, kind: kind.kind, plural, namespaced: scope === "Namespaced" };
    return (await kube.serves(type))
      ? { area: "crds", verdict: "ok", message: `${name} serves ${version}` }
      : { area: "crds", verdict: "fail", message: `${name} does not serve ${version}`, fix: INSTALL };
  } catch (error) {
    return unanswered("crds", "fail", `${name} was not checked`, error);
  }
}
