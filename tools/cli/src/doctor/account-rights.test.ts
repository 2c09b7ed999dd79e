import { expect, test } from "@jest/globals";
import { rightsOf, type ServiceRules } from "./account-rights.ts";

const rules: ServiceRules = {
  objects: [
    { why: "watch tanks", apiGroups: ["harbour.test"], resources: ["tanks", "pumps"], verbs: ["list", "watch"] },
    { why: "remove leaks", when: "leaks.enabled", apiGroups: [""], resources: ["leaks"], verbs: ["delete"] },
  ],
  own: [
    {
      ...{ why: "lead", when: "settings.leaderElect", apiGroups: ["coordination.k8s.io"], resources: ["leases"] },
      ...{ verbs: ["update"], resourceNames: ["tank-keeper"] },
    },
  ],
  cluster: [
    {
      ...{ why: "see the original", apiGroups: ["coordination.k8s.io"], resources: ["leases"] },
      ...{ verbs: ["list"], resourceNamesFrom: ["settings.originalLease"] },
    },
  ],
};

const lines = (settings: Readonly<Record<string, string>>) =>
  rightsOf(rules, new Map(Object.entries(settings))).map(
    ({ where, verb, group, resource, name = "*" }) => `${where} ${verb} ${resource}.${group} ${name}`,
  );

const always = ["list tanks", "watch tanks", "list pumps", "watch pumps"].map(
  (right) => `objects ${right}.harbour.test *`,
);
const lease = "own update leases.coordination.k8s.io tank-keeper";

test("every verb on every resource is one right", () => {
  expect(lines({ "leader-elect": "true", "original-lease": "old" })).toEqual([
    ...always,
    lease,
    "cluster list leases.coordination.k8s.io old",
  ]);
});

test("a name after a namespace is the name alone", () => {
  expect(lines({ "original-lease": "place/old" })).toContain("cluster list leases.coordination.k8s.io old");
});

test("a rule that depends on a setting is left out while that is false", () => {
  expect(lines({ "leader-elect": "false", "original-lease": "old" })).not.toContain(lease);
});

test("a rule that depends on what the service does not report is left out", () => {
  expect(lines({})).toEqual(always);
});
