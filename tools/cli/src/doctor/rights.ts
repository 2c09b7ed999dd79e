import {
  type KubeClient,
  kubeErrors,
  type KubeObject,
  type ResourceTypeOf,
  subjectAccessReviews,
} from "@evenkeel/kube";
import { proxiedName, type ServicePlace } from "../reach/proxied-connection.ts";
import type { Registration } from "../services/registration.ts";
import { type Right, rightsOf } from "./account-rights.ts";
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

/** Whether the user may reach a service through the API server. Only what-if needs `create`. */
export async function checkOwnRights(kube: Kube, place: ServicePlace): Promise<readonly Finding[]> {
  const { namespace, service } = place;
  const name = proxiedName(place);
  const uses = [
    { verb: "get", verdict: "fail", role: "evenkeel-read" },
    { verb: "create", verdict: "warn", role: "evenkeel-what-if" },
  ] as const;
  return Promise.all(
    uses.map(async ({ verb, verdict, role }): Promise<Finding> => {
      const right = `${verb} services/proxy of ${namespace}/${service}`;
      const asked = { verb, group: "", resource: "services", subresource: "proxy", namespace, name };
      try {
        const review = await kube
          .resource(selfSubjectAccessReviews)
          .create({ metadata: {}, spec: { resourceAttributes: asked } });
        if (review.status?.allowed === true) return { area: "rights", verdict: "ok", message: `you may ${right}` };
      } catch (error) {
        return unanswered("rights", verdict, `cannot check whether you may ${right}`, error);
      }
      const create = `kubectl create role ${role} -n ${namespace} --verb=${verb} --resource=services/proxy --resource-name=${name}`;
      const fix = `Ask for a role and its binding: ${create}. Or connect with --address.`;
      return { area: "rights", verdict, message: `you may not ${right}`, fix };
    }),
  );
}

/** A service of the cluster whose account is checked. */
export interface CheckedAccount {
  readonly registration: Registration;
  /** Namespace of the service. */
  readonly namespace: string;
  /** Namespaces that the service watches; none: all. */
  readonly watched: readonly string[];
  /** Settings of the service: flag without dashes → value. Empty if it does not answer. */
  readonly settings: ReadonlyMap<string, string>;
}

/** Whether a service's account has all rights that its chart grants. */
export async function checkAccount(kube: Kube, checked: CheckedAccount): Promise<Finding> {
  const { registration, namespace, watched, settings } = checked;
  const account = `service account ${namespace}/${registration.serviceAccount}`;
  const rights = rightsOf(registration.rules, settings);
  const namespaces = {
    ...{ own: [namespace], cluster: [undefined] },
    objects: watched.length === 0 ? [undefined] : watched,
  };
  try {
    const answers = await Promise.all(
      rights.map(async (right) => {
        const granted = namespaces[right.where].map((within) => isAllowed(kube, checked, right, within));
        return (await Promise.all(granted)).every(Boolean) ? [] : [right];
      }),
    );
    const [first, ...more] = answers.flat();
    if (first === undefined) {
      return { area: "rights", verdict: "ok", message: `${account} has all ${rights.length} rights that it needs` };
    }
    const missing = [first, ...more].map(textOf).join(", ");
    const fix = `It needs the first to ${first.why}. Its chart grants all of them: run helm upgrade, and check rbac.create.`;
    return { area: "rights", verdict: "fail", message: `${account} may not ${missing}`, fix };
  } catch (error) {
    const what = `cannot check the rights of ${account}`;
    const fix = "Ask for the right to create subjectaccessreviews, which the role system:auth-delegator has.";
    return error instanceof kubeErrors.Forbidden
      ? unanswered("rights", "warn", what, error, fix)
      : unanswered("rights", "fail", what, error);
  }
}

async function isAllowed(
  kube: Kube,
  { namespace, registration: { serviceAccount } }: CheckedAccount,
  { verb, group, resource, name }: Right,
  within: string | undefined,
): Promise<boolean> {
  const [plural = "", subresource] = resource.split("/");
  const resourceAttributes = {
    ...{ verb, group, resource: plural, ...(subresource !== undefined && { subresource }) },
    ...(name !== undefined && { name }),
    ...(within !== undefined && { namespace: within }),
  };
  const user = `system:serviceaccount:${namespace}:${serviceAccount}`;
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  const review = { metadata: {}, spec: { user, groups, resourceAttributes } };
  return (await kube.resource(subjectAccessReviews).create(review)).status?.allowed === true;
}

function textOf({ verb, group, resource }: Right): string {
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}
