import { badRequest, forbidden } from "../status.ts";
import type { Rbac } from "./rbac.ts";
import { serviceAccountGroups } from "./service-account-tokens.ts";
import { anonymous, AUTHENTICATED, type Caller, UNAUTHENTICATED } from "./users.ts";

const EXTRA = "impersonate-extra-";
const AUTHENTICATION = "authentication.k8s.io";

/** Every value of each header, by names in lower case. */
type Headers = Readonly<Record<string, readonly string[] | undefined>>;

/** What is impersonated by one value, and what the right to it is called. */
interface Part {
  readonly group: string;
  readonly resource: "users" | "groups" | "serviceaccounts" | "uids" | "userextras";
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Who the request is for: the caller, or the user that its Impersonate-* headers name. Each value needs the verb
 * `impersonate`, else it fails with Forbidden. Groups, a uid or extra values without a user are a BadRequest.
 */
export function impersonate(caller: Caller, headers: Headers, rbac: Rbac): Caller {
  const [name = ""] = headers["impersonate-user"] ?? [];
  const [uid = ""] = headers["impersonate-uid"] ?? [];
  const groups = headers["impersonate-group"] ?? [];
  const extra = extraOf(headers);
  if (name === "") {
    if (uid === "" && groups.length === 0 && Object.keys(extra).length === 0) return caller;
    throw badRequest(`requested ${JSON.stringify({ uid, groups, extra })} without impersonating a user name`);
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const [, namespace = "", accountName = ""] = account ?? [];
  const parts: Part[] = [
    account === null
      ? { group: "", resource: "users", name }
      : { group: "", resource: "serviceaccounts", namespace, name: accountName },
    ...groups.map((group): Part => ({ group: "", resource: "groups", name: group })),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((value): Part => ({ group: AUTHENTICATION, resource: "userextras", subresource, name: value })),
    ),
    ...(uid === "" ? [] : [{ group: AUTHENTICATION, resource: "uids", name: uid } as const]),
  ];
  for (const part of parts) check(caller, part, rbac);
  const own = groups.length === 0 && account !== null ? serviceAccountGroups(namespace) : groups;
  return {
    ...{ name, groups: withKnown(name, own), extra },
    ...(uid === "" ? {} : { uid }),
  };
}

function check(caller: Caller, { resource, subresource, ...part }: Part, rbac: Rbac): void {
  const whole = subresource === undefined ? resource : `${resource}/${subresource}`;
  if (rbac.allows(caller, { ...part, verb: "impersonate", resource: whole })) return;
  const where = part.namespace === undefined ? "at the cluster scope" : `in the namespace "${part.namespace}"`;
  const why = `User "${caller.name}" cannot impersonate resource "${whole}" in API group "${part.group}" ${where}`;
  throw forbidden({ group: part.group, plural: resource, kind: resource }, part.name, why);
}

function extraOf(headers: Headers): Record<string, readonly string[]> {
  const given = Object.entries(headers).filter(([header]) => header.startsWith(EXTRA));
  return Object.fromEntries(given.map(([header, values = []]) => [decoded(header.slice(EXTRA.length)), values]));
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** Everybody is in one of two groups, unless the request names one of them. */
function withKnown(name: string, groups: readonly string[]): readonly string[] {
  const known = name === anonymous.name ? [UNAUTHENTICATED] : [AUTHENTICATED, UNAUTHENTICATED];
  return groups.some((group) => known.includes(group)) ? groups : [...groups, known[0] ?? ""];
}
