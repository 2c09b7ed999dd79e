import type { Identity } from "../identity.ts";
import { AUTHENTICATED } from "./certificate-identity.ts";

/** The group that may do everything in a cluster. */
export const MASTERS = "system:masters";

/** Keys of extras that name objects of the cluster that wrote them. */
const LOCAL_EXTRA = /^authentication\.kubernetes\.io\/(pod|node)-(name|uid)$/;

/** A peer's proxy that was authenticated by its certificate. */
export interface Peer {
  readonly name: string;
  /** Whether this cluster accepts `system:masters` and `dropped` from it. */
  readonly trusted: boolean;
  /** Groups beside those with `system:` that administer the peer's cluster, and must not administer this one. */
  readonly dropped: readonly string[];
}

/** A name of one cluster, or one that already has the name of a cluster in front: no peer speaks for another. */
const LOCAL_USER = /(^|:)system:/;

/**
 * A user of a peer's cluster as a user of this one. Names with `system:` belong to one cluster: its service accounts,
 * its nodes and its control plane. They get the peer's name in front, and lose the uid and extras that name objects
 * there. Groups with `system:` are dropped for the same reason, except `system:authenticated`, and `system:masters` of
 * a trusted peer. So are the groups in `dropped`, which clusters that were set up alike bind to the same rights. All
 * other users have one name in all clusters; what they may do here is this cluster's own decision.
 */
export function identityFromPeer(peer: Peer, identity: Identity): Identity {
  const { user, uid, groups, extra } = identity;
  const kept = groups.filter((group) => {
    if (group === MASTERS || peer.dropped.includes(group)) return peer.trusted;
    return !group.startsWith("system:");
  });
  const all = [...new Set([...kept, AUTHENTICATED])];
  if (!LOCAL_USER.test(user)) return { user, uid, groups: all, extra };
  const entries = Object.entries(extra).filter(([key]) => !LOCAL_EXTRA.test(key));
  return { user: `${peer.name}:${user}`, uid: undefined, groups: all, extra: Object.fromEntries(entries) };
}
