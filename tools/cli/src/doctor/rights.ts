import {
  type KubeClient,
  kubeErrors,
  type KubeObject,
  type ResourceTypeOf,
  subjectAccessReviews,
} from "@evenkeel/kube";
import { proxiedName, type ServicePlace } from "../reach/proxied-connection.ts";
import type { Registration, Right } from "../services/registration.ts";
import { type Finding, unanswered } from "./finding.ts";

interface Asked {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

interface SelfReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Asked };
  readonly status?: { readonly allowed: boolean };
}

const selfSubjectAccessReviews: ResourceTypeOf<SelfReview> = {
  ...{ group: "authorization.k8s.io", version: "v1", namespaced: false },
  ...{ kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews" },
};

type Kube = Pick<KubeClient, "resource">;

/** Whether the user may reach a service through the API server. Without `create` all but what-if works. */
export async function lookAtOwnRights(kube: Kube, place: ServicePlace): Promise<readonly Finding[]> {
  const { namespace, service } = place;
  const name = proxiedName(place);
  const uses = [
    { verb: "get", verdict: "fail", purpose: "reach it" },
    { verb: "create", verdict: "warn", purpose: "ask what-if" },
  ] as const;
  return Promise.all(
    uses.map(async ({ verb, verdict, purpose }): Promise<Finding> => {
      const right = `${verb} services/proxy of ${namespace}/${service}`;
      const asked = { verb, group: "", resource: "services", subresource: "proxy", namespace, name };
      try {
        const review = await kube
          .resource(selfSubjectAccessReviews)
          .create({ metadata: {}, spec: { resourceAttributes: asked } });
        if (review.status?.allowed === true) return { area: "rights", verdict: "ok", message: `you may ${right}` };
      } catch (error) {
        return unanswered("rights", verdict, `whether you may ${right} is unknown`, error);
      }
      const fix = `To ${purpose}, be granted: kubectl create role evenkeel-${purpose.replaceAll(" ", "-")} -n ${namespace} --verb=${verb} --resource=services/proxy --resource-name=${name}, and a binding of it. Or use --address.`;
      return { area: "rights", verdict, message: `you may not ${right}`, fix };
    }),
  );
}

/** Whether a service's account may do all that the service does. `watched` are the namespaces that it looks after; none: all. */
export async function lookAtAccount(
  kube: Kube,
  registration: Registration,
  namespace: string,
  watched: readonly string[],
): Promise<Finding> {
  const { serviceAccount, rights } = registration;
  const account = `service account ${namespace}/${serviceAccount}`;
  const questions = rights.flatMap((right) => right.verbs.map((verb) => ({ ...right, verb })));
  try {
    const answers = await Promise.all(
      questions.map(async (right) => {
        const within = {
          own: [namespace],
          watched: watched.length === 0 ? [undefined] : watched,
          cluster: [undefined],
        };
        const granted = within[right.where].map((place) =>
          allowed(kube, { namespace, account: serviceAccount }, right, place),
        );
        return (await Promise.all(granted)).every(Boolean) ? [] : [lackOf(right)];
      }),
    );
    const lacking = answers.flat();
    if (lacking.length === 0) {
      return {
        area: "rights",
        verdict: "ok",
        message: `${account} may do all ${questions.length} things that it does`,
      };
    }
    const fix = `Its chart grants it: helm upgrade the release, or see kubectl get clusterrole,role -A | grep ${serviceAccount}`;
    return { area: "rights", verdict: "fail", message: `${account} may not ${lacking.join(", ")}`, fix };
  } catch (error) {
    const what = `what the ${account} may do is unknown`;
    const fix = "Ask someone who may create subjectaccessreviews, as the role system:auth-delegator does.";
    return error instanceof kubeErrors.Forbidden
      ? unanswered("rights", "warn", what, error, fix)
      : unanswered("rights", "fail", what, error);
  }
}

async function allowed(
  kube: Kube,
  { namespace, account }: { readonly namespace: string; readonly account: string },
  { verb, group, resource, name }: Right & { readonly verb: string },
  within: string | undefined,
): Promise<boolean> {
  const [plural = "", subresource] = resource.split("/");
  const resourceAttributes = {
    ...{ verb, group, resource: plural, ...(subresource !== undefined && { subresource }) },
    ...(name !== undefined && { name }),
    ...(within !== undefined && { namespace: within }),
  };
  const user = `system:serviceaccount:${namespace}:${account}`;
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const review = { metadata: {}, spec: { user, groups, resourceAttributes } };
  return (await kube.resource(subjectAccessReviews).create(review)).status?.allowed === true;
}

function lackOf({ verb, group, resource }: Right & { readonly verb: string }): string {
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}
