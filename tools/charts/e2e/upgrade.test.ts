import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { kinds } from "@evenkeel/api";
import { apply, get, kubectl, START_TIMEOUT_MS, TEST_TIMEOUT_MS, useCluster } from "@evenkeel/e2e";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { buildDependencies, charts, serviceCharts } from "../src/index.ts";
import { objectsOf, Release } from "../src/release.ts";

const NAMESPACE = "evenkeel-system";
const IN = ["-n", NAMESPACE] as const;
const SERVICES = serviceCharts(charts);
const ALL = kinds.map(({ plural, group }) => `${plural}.${group}`).sort();
const EVERY_SERVICE = SERVICES.flatMap((service) => ["--set", `${service}.enabled=true`]);

let release: Release;

afterAll(() => release[Symbol.dispose]());

const cluster = useCluster({ name: "charts-upgrade", nodes: 0 });

/** The umbrella chart as it was when one subchart held the CRDs of all services. */
async function formerChart(): Promise<string> {
  const folder = join(release.folder, "former");
  cpSync(charts, folder, {
    recursive: true,
    filter: (path) => !/\/charts$|Chart\.lock$|NOTES\.txt$|\/files\/crds$/.test(path.slice(charts.length)),
  });
  const crds = join(folder, "crds");
  mkdirSync(join(crds, "templates"), { recursive: true });
  for (const file of globSync(join(charts, "*/files/crds/*.yaml"))) cpSync(file, join(crds, basename(file)));
  writeFileSync(join(crds, "Chart.yaml"), "{apiVersion: v2, name: crds, version: 0.1.0}\n");
  const template = [
    '{{- range $path, $_ := .Files.Glob "*_*.yaml" }}',
    "---",
    '{{ $.Files.Get $path | replace "\\nmetadata:\\n" "\\nmetadata:\\n  annotations:\\n    helm.sh/resource-policy: keep\\n" }}',
    "{{- end }}",
  ];
  writeFileSync(join(crds, "templates/definitions.yaml"), template.join("\n"));
  const umbrella = join(folder, "evenkeel/Chart.yaml");
  const dependency = "  - {name: crds, version: 0.1.0, repository: file://../crds}\n";
  writeFileSync(umbrella, readFileSync(umbrella, "utf8") + dependency);
  await buildDependencies(release.binary, folder);
  return join(folder, "evenkeel");
}

beforeAll(async () => {
  release = await Release.prepare(cluster());
  await release.helm("install", "evenkeel", await formerChart(), ...IN, "--create-namespace", ...EVERY_SERVICE);
  await kubectl(cluster(), ["wait", "--for=condition=Established", "crd", ...ALL, "--timeout=30s"]);
  await apply(cluster(), {
    apiVersion: "rebalancer.dev/v1",
    kind: "NodeClass",
    metadata: { name: "kept" },
    spec: { matchLabels: { pool: "a" } },
  });
}, START_TIMEOUT_MS);

interface Definition {
  readonly metadata: { readonly uid?: string; readonly annotations?: Readonly<Record<string, string>> };
}

const uids = async () =>
  Promise.all(ALL.map(async (name) => (await get<Definition>(cluster(), "crd", name)).metadata.uid));

test(
  "an upgrade takes CRDs over from the common chart, and deletes none: neither one without a service nor its objects",
  async () => {
    const before = await uids();
    await release.helm("upgrade", "evenkeel", release.chart("evenkeel"), ...IN, "--reset-then-reuse-values");
    expect(await uids()).toEqual(before);
    expect(await get(cluster(), "nodeclass", "kept")).toMatchObject({ metadata: { name: "kept" } });
    const owned = objectsOf(await release.helm("get", "manifest", "evenkeel", ...IN)).filter(
      ({ kind }) => kind === "CustomResourceDefinition",
    );
    const own = kinds
      .filter(({ service }) => SERVICES.includes(service))
      .map(({ plural, group }) => `${plural}.${group}`);
    expect(owned.map(({ metadata }) => metadata.name).sort()).toEqual(own.sort());
    // Those without a service stay marked as this release's, so that it can adopt them later.
    for (const name of ALL) {
      const { metadata } = await get<Definition>(cluster(), "crd", name);
      expect(metadata.annotations).toMatchObject({ "meta.helm.sh/release-name": "evenkeel" });
    }
  },
  TEST_TIMEOUT_MS,
);

test(
  "a service that is switched off and on again, or uninstalled and installed, keeps its CRD",
  async () => {
    const before = await uids();
    const upgrade = (enabled: boolean) =>
      release.helm(
        ...["upgrade", "--install", "evenkeel", release.chart("evenkeel"), ...IN],
        ...EVERY_SERVICE,
        ...["--set", `weight-rebalancer.enabled=${String(enabled)}`],
      );
    await upgrade(false);
    expect(await uids()).toEqual(before);
    await upgrade(true);
    await release.helm("uninstall", "evenkeel", ...IN, "--no-hooks");
    expect(await uids()).toEqual(before);
    await upgrade(true);
    expect(await uids()).toEqual(before);
  },
  TEST_TIMEOUT_MS,
);

test("users with the role view or edit in a namespace have the same rights on the objects of the services there", async () => {
  await kubectl(cluster(), ["create", "namespace", "shop"]);
  for (const role of ["view", "edit"]) {
    const binding = ["create", "rolebinding", role, "-n", "shop", `--clusterrole=${role}`, `--user=${role}er`];
    await kubectl(cluster(), binding);
  }
  const may = async (user: string, verb: string) => {
    const { stdout } = await cluster().kubectl(["auth", "can-i", verb, "rebalances", "-n", "shop", `--as=${user}`]);
    return stdout.trim();
  };
  expect(await Promise.all([may("viewer", "list"), may("viewer", "patch")])).toEqual(["yes", "no"]);
  expect(await Promise.all([may("editer", "list"), may("editer", "patch")])).toEqual(["yes", "yes"]);
});
