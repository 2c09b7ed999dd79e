import { expect, test } from "@jest/globals";
import { completeIdentity } from "./acted-for.ts";
import { identityFromPeer } from "./peer-identity.ts";

const ADMINS = "kubeadm:cluster-admins";
const osaka = { name: "osaka", trusted: false, dropped: [ADMINS] };
const everyone = "system:authenticated";

test("a peer's service account arrives under the peer's name, without its groups, uid and pod", () => {
  const extra = {
    "authentication.kubernetes.io/credential-id": ["JTI=1"],
    "authentication.kubernetes.io/pod-name": ["web-0"],
    "authentication.kubernetes.io/node-uid": ["9"],
  };
  const groups = ["system:serviceaccounts", "system:serviceaccounts:ci", everyone];
  expect(identityFromPeer(osaka, { user: "system:serviceaccount:ci:robot", uid: "7", groups, extra })).toEqual({
    user: "osaka:system:serviceaccount:ci:robot",
    uid: undefined,
    groups: [everyone],
    extra: { "authentication.kubernetes.io/credential-id": ["JTI=1"] },
  });
});

test.each([
  ["system:node:n1", ["system:nodes", everyone], "osaka:system:node:n1", [everyone]],
  ["system:kube-controller-manager", [everyone], "osaka:system:kube-controller-manager", [everyone]],
  ["alice", ["dev", "system:masters", everyone], "alice", ["dev", everyone]],
  ["kyoto:system:serviceaccount:ci:robot", [everyone], "osaka:kyoto:system:serviceaccount:ci:robot", [everyone]],
  ["kubernetes-admin", [ADMINS, "kubeadm:others", everyone], "kubernetes-admin", ["kubeadm:others", everyone]],
  ["alice", ["system:nodes", "system:serviceaccounts:kube-system"], "alice", [everyone]],
])("a peer's %s in %j is %s in %j", (user, groups, expected, expectedGroups) => {
  const seen = identityFromPeer(osaka, { user, uid: undefined, groups, extra: {} });
  expect([seen.user, seen.groups]).toEqual([expected, expectedGroups]);
});

test("groups of administrators are kept from a peer that a setting trusts with them", () => {
  const root = { user: "root", uid: undefined, groups: ["system:masters", ADMINS, "system:nodes"], extra: {} };
  expect(identityFromPeer({ ...osaka, trusted: true }, root).groups).toEqual(["system:masters", ADMINS, everyone]);
});

test.each([
  ["alice", [], [everyone]],
  ["alice", ["dev"], ["dev", everyone]],
  ["system:serviceaccount:ci:robot", [], ["system:serviceaccounts", "system:serviceaccounts:ci", everyone]],
  ["system:serviceaccount:ci:robot", ["dev"], ["dev", everyone]],
  ["system:anonymous", [], ["system:unauthenticated"]],
])("%s that is impersonated with groups %j has %j", (user, groups, expected) => {
  expect(completeIdentity({ user, uid: undefined, groups, extra: {} }).groups).toEqual(expected);
});
