import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { apply, chartAccount, kubectl, list, type Role, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { expect, test } from "@jest/globals";
import { type Right, rightsOf, type Where } from "../src/doctor/account-rights.ts";
import { registrations } from "../src/services/index.ts";

const cluster = useCluster({ name: "cli-rights", nodes: 0 });

const lineOf = ({ where, verb, group, resource, name }: Omit<Right, "why">) =>
  `${where}: ${verb} ${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : `/${name}`}`;

type NamedRole = Role & { readonly metadata: { readonly name: string } };

/** Every right of some roles. */
function granted(where: Where, roles: readonly NamedRole[]): readonly Omit<Right, "why">[] {
  const described = roles.filter(({ metadata }) => !OF_OTHERS.test(metadata.name));
  return described.flatMap(({ rules }) =>
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

/**
 * Roles that the rules of a service do not describe: those of a second account, with the right to its token, and of
 * peers as a group.
 */
const OF_OTHERS = /-(impersonator|peers|placements)$/;

/** Whether a chart can narrow the service to namespaces. */
function watchesNamespaces(name: string): boolean {
  const schema = readFileSync(new URL(`../../../charts/${name}/settings.schema.json`, import.meta.url), "utf8");
  return schema.includes('"watchNamespaces"');
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
    const narrowed = watchesNamespaces(name) ? [`settings.watchNamespaces={${watched}}`] : [];
    const values = [...narrowed, "settings.originalLease=old"];
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
      ...granted("own", await list<NamedRole>(cluster(), "roles", "-n", own, ...label)),
      ...granted("objects", await list<NamedRole>(cluster(), "roles", "-n", watched, ...label)),
      ...granted("cluster", await list<NamedRole>(cluster(), "clusterroles", ...label)),
    ];
    const settings = new Map([
      ["leader-elect", "true"],
      ["original-lease", "old"],
      // As the chart of eviction-planner has it.
      ["descheduler-lease", "descheduler"],
    ]);
    expect(rightsOf(rules, settings).map(lineOf).sort()).toEqual(roles.map(lineOf).sort());
  },
  TEST_TIMEOUT_MS,
);
