import type { Identity } from "../identity.ts";
import { escapeKey, headerText, headerValue, unescapeKey } from "./header-text.ts";

/** The names of headers that hold an identity, in lower case. */
export interface IdentityHeaders {
  readonly user: string;
  readonly group: string;
  readonly uid: string;
  /** In front of an extra's key. */
  readonly extra: string;
}

/** kube-apiserver reads these as the user that the caller acts for, if the caller may `impersonate` it. */
export const IMPERSONATION: IdentityHeaders = {
  user: "impersonate-user",
  group: "impersonate-group",
  uid: "impersonate-uid",
  extra: "impersonate-extra-",
};

/** Between proxies, with a certificate of a peer's authority: the names that kube-apiserver's front proxy uses. */
export const REMOTE: IdentityHeaders = {
  user: "x-remote-user",
  group: "x-remote-group",
  uid: "x-remote-uid",
  extra: "x-remote-extra-",
};

/** An identity as alternating names and values. Throws `UnsendableIdentity` if a value would arrive as another one. */
export function writeIdentity(names: IdentityHeaders, identity: Identity): string[] {
  const { user, uid, groups, extra } = identity;
  const list = [names.user, headerValue("user", user)];
  for (const group of groups) list.push(names.group, headerValue("group", group));
  if (uid !== undefined) list.push(names.uid, headerValue("uid", uid));
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) list.push(names.extra + escapeKey(key), headerValue(`extra ${key}`, value));
  }
  return list;
}

/** What headers say of an identity: nothing at all, an identity, or why it is not one. */
export type ReadIdentity = Identity | "none" | { readonly fault: string };

/** Reads an identity from alternating names and values. */
export function readIdentity(names: IdentityHeaders, headers: readonly string[]): ReadIdentity {
  let found: Found | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const isExtra = name.startsWith(names.extra);
    if (!isExtra && name !== names.user && name !== names.group && name !== names.uid) continue;
    found ??= { users: [], uids: [], groups: [], extra: Object.create(null) as Record<string, string[]> };
    const text = headerText(headers[index + 1] as string);
    if (text === undefined) return { fault: `${name} is not UTF-8` };
    if (isExtra) (found.extra[unescapeKey(name.slice(names.extra.length))] ??= []).push(text);
    else (name === names.user ? found.users : name === names.uid ? found.uids : found.groups).push(text);
  }
  if (found === undefined) return "none";
  const { users, uids, groups, extra } = found;
  const [user = ""] = users;
  if (user === "") return { fault: `${names.user} is missing, and the others mean nothing without it` };
  if (users.length > 1) return { fault: `${names.user} is given more than once` };
  if (uids.length > 1) return { fault: `${names.uid} is given more than once` };
  return { user, uid: uids[0] === "" ? undefined : uids[0], groups, extra };
}

/** The values of each kind of header. */
interface Found {
  readonly users: string[];
  readonly uids: string[];
  readonly groups: string[];
  readonly extra: Record<string, string[]>;
}
