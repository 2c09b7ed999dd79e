import type { ReviewedObject, UserInfo } from "./access-reviewer.ts";

const AUTHENTICATION = "authentication.k8s.io";

/**
 * The objects on which a caller needs the verb `impersonate` to act as a user, in the order in which kube-apiserver
 * checks them. A service account is checked as such, in its namespace.
 */
export function impersonatedObjects({ user, uid, groups, extra }: UserInfo): ReviewedObject[] {
  return [
    userObject(user),
    ...groups.map((name) => ({ group: "", resource: "groups", name })),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((name) => ({ group: AUTHENTICATION, resource: "userextras", subresource, name })),
    ),
    ...(uid === undefined ? [] : [{ group: AUTHENTICATION, resource: "uids", name: uid }]),
  ];
}

function userObject(user: string): ReviewedObject {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace === undefined || name === undefined) return { group: "", resource: "users", name: user };
  return { group: "", resource: "serviceaccounts", namespace, name };
}
