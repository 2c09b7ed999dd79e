import { fileURLToPath } from "node:url";
import { apply, chartAccount, kubectl, list, type Role, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { expect, test } from "@jest/globals";
import { type Right, rightsOf, type Where } from "../src/doctor/account-rights.ts";
import { registrations } from "../src/services/index.ts";

const cluster = useCluster({ name: "cli-rights", nodes: 0 });

const lineOf = ({ where, verb, group, resource, name }: Omit<Right, "why">) =>
  `${where}: ${verb} ${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;

/** Every right of some roles. */
function granted(where: Where, roles: readonly Role[]): readonly Omit<Right, "why">[] {
  return roles.flatMap(({ rules }) =>
    rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) =>
            verbs.map((verb) => ({ where, verb, group, resource, ...(name !== undefined && { name }) })),
          ),
        ),
      ),
    ),
  );
}

test.each(registrations)(
  "the roles of $name's chart grant what doctor checks, no more and no less",
  async ({ name, rules }) => {
    const [own, watched] = [`${name}-own`, `${name}-watched`];
    await apply(cluster(), { apiVersion: "v1", kind: "Namespace", metadata: { name: watched } });
    // What depends on a value that is not a setting is off: doctor does not know it.
    const unknown = Object.values(rules)
      .flatMap((section) => section.flatMap(({ when }) => when ?? []))
      .filter((value) => !value.startsWith("settings."));
    const values = [`settings.watchNamespaces={${watched}}`, "settings.originalLease=old"];
    // A chart may create objects of its own kinds.
    const definitions = fileURLToPath(new URL(`../../../charts/${name}/files/crds`, import.meta.url));
    await kubectl(cluster(), ["apply", "--server-side", "-f", definitions]);
    await kubectl(cluster(), ["wait", "--for=condition=Established", "-f", definitions, "--timeout=60s"]);
    await chartAccount(cluster(), {
      ...{ chart: name, namespace: own },
      values: [...values, ...unknown.map((value) => `${value}=false`)],
    });
    const label = ["-l", `app.kubernetes.io/name=${name},app.kubernetes.io/component!=user-roles`];
    const roles = [
      ...granted("own", await list<Role>(cluster(), "roles", "-n", own, ...label)),
      ...granted("objects", await list<Role>(cluster(), "roles", "-n", watched, ...label)),
      ...granted("cluster", await list<Role>(cluster(), "clusterroles", ...label)),
    ];
    const settings = new Map([
      ["leader-elect", "true"],
      ["original-lease", "old"],
    ]);
    expect(rightsOf(rules, settings).map(lineOf).sort()).toEqual(roles.map(lineOf).sort());
  },
  TEST_TIMEOUT_MS,
);
