import { apply, chartAccount, list, type Role, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { expect, test } from "@jest/globals";
import type { Right } from "../src/services/registration.ts";
import { registrations } from "../src/services/index.ts";

const cluster = useCluster({ name: "cli-rights", nodes: 0 });

/** Each thing that may be done, in a line of its own. */
function lines({ where, group, resource, name, verbs }: Right): readonly string[] {
  const of = `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;
  return verbs.map((verb) => `${where}: ${verb} ${of}`);
}

function rightsOf(where: Right["where"], roles: readonly Role[]): readonly Right[] {
  return roles.flatMap(({ rules }) =>
    rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          (resourceNames ?? [undefined]).map((name) => ({
            ...{ where, group, resource, verbs },
            ...(name !== undefined && { name }),
          })),
        ),
      ),
    ),
  );
}

test.each(registrations)(
  "what doctor asks about $name's account is what the chart grants to it, no more and no less",
  async ({ name, rights }) => {
    const [own, watched] = [`${name}-own`, `${name}-watched`];
    await apply(cluster(), { apiVersion: "v1", kind: "Namespace", metadata: { name: watched } });
    await chartAccount(cluster(), { chart: name, namespace: own, values: [`settings.watchNamespaces={${watched}}`] });
    const label = ["-l", `app.kubernetes.io/name=${name}`];
    const granted = [
      ...rightsOf("own", await list<Role>(cluster(), "roles", "-n", own, ...label)),
      ...rightsOf("watched", await list<Role>(cluster(), "roles", "-n", watched, ...label)),
      ...rightsOf("cluster", await list<Role>(cluster(), "clusterroles", ...label)),
    ];
    expect(rights.flatMap(lines).sort()).toEqual(granted.flatMap(lines).sort());
  },
  TEST_TIMEOUT_MS,
);
