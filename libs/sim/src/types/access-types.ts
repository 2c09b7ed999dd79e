import type { Schema } from "../schema/schema.ts";
import { builtIn } from "./built-in-type.ts";
import { anything, list, open, texts, whole } from "./open-schema.ts";
import type { ResourceType } from "./resource-type.ts";

const spec = open();
const status = open();
const rules: Schema = { type: "array", items: open({ verbs: texts }, ["verbs"]) };
const review = { review: true, required: ["spec"] };
const rbac = { nameRule: "segment" } as const;
const binding = { subjects: list, roleRef: { ...whole, required: ["kind", "name"] } };

/** Roles, bindings and the questions about them. */
export const accessTypes: readonly ResourceType[] = [
  builtIn("rbac.authorization.k8s.io/v1 Role roles", { rules }, rbac),
  builtIn("rbac.authorization.k8s.io/v1 ClusterRole clusterroles cluster", { rules, aggregationRule: anything }, rbac),
  builtIn("rbac.authorization.k8s.io/v1 RoleBinding rolebindings", binding, { ...rbac, required: ["roleRef"] }),
  builtIn("rbac.authorization.k8s.io/v1 ClusterRoleBinding clusterrolebindings cluster", binding, {
    ...rbac,
    required: ["roleRef"],
  }),
  builtIn("authentication.k8s.io/v1 TokenReview tokenreviews cluster", { spec, status }, review),
  builtIn("authentication.k8s.io/v1 SelfSubjectReview selfsubjectreviews cluster", { spec, status }, { review: true }),
  builtIn("authorization.k8s.io/v1 SubjectAccessReview subjectaccessreviews cluster", { spec, status }, review),
  builtIn("authorization.k8s.io/v1 SelfSubjectAccessReview selfsubjectaccessreviews cluster", { spec, status }, review),
];
