import { expect, test } from "@jest/globals";
import { impersonatedObjects } from "./impersonated-objects.ts";

const nobody = { uid: undefined, groups: [], extra: {} };

test("a user, its groups, its extra values and its uid are one object each", () => {
  const extra = { "example.com/team": ["a", "b"] };
  const group = "authentication.k8s.io";
  expect(impersonatedObjects({ user: "ann", uid: "u1", groups: ["dev"], extra })).toEqual([
    { group: "", resource: "users", name: "ann" },
    { group: "", resource: "groups", name: "dev" },
    { group, resource: "userextras", subresource: "example.com/team", name: "a" },
    { group, resource: "userextras", subresource: "example.com/team", name: "b" },
    { group, resource: "uids", name: "u1" },
  ]);
});

test("a service account is checked in its namespace", () => {
  expect(impersonatedObjects({ ...nobody, user: "system:serviceaccount:apps:web" })).toEqual([
    { group: "", resource: "serviceaccounts", namespace: "apps", name: "web" },
  ]);
  expect(impersonatedObjects({ ...nobody, user: "system:serviceaccount:web" })).toEqual([
    { group: "", resource: "users", name: "system:serviceaccount:web" },
  ]);
});
