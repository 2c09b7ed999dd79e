import type { Identity } from "../identity.ts";
import { AUTHENTICATED } from "./certificate-identity.ts";

const ANONYMOUS = "system:anonymous";

/**
 * The whole identity of a user that a client acts for by Impersonate-* headers, as kube-apiserver completes it: a
 * service account without given groups has its fixed ones, and everyone but the anonymous user is authenticated.
 */
export function completeIdentity(given: Identity): Identity {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(given.user) ?? [];
  const fixed =
    namespace !== undefined && given.groups.length === 0
      ? ["system:serviceaccounts", `system:serviceaccounts:${namespace}`]
      : given.groups;
  const everyone = given.user === ANONYMOUS ? "system:unauthenticated" : AUTHENTICATED;
  return { ...given, groups: [...new Set([...fixed, everyone])] };
}
