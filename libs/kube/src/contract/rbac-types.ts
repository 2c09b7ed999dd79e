import type { V1ClusterRoleBinding, V1Role, V1RoleBinding } from "@kubernetes/client-node";
import type { ResourceTypeOf } from "../objects/object.ts";
import type { Wire } from "../objects/wire.ts";

const version = { group: "rbac.authorization.k8s.io", version: "v1" };

export const roles: ResourceTypeOf<Wire<V1Role>> = { ...version, kind: "Role", plural: "roles", namespaced: true };

export const roleBindings: ResourceTypeOf<Wire<V1RoleBinding>> = {
  ...version,
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

export const clusterRoleBindings: ResourceTypeOf<Wire<V1ClusterRoleBinding>> = {
  ...version,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};
