import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";

interface Rule {
  readonly why: string;
  readonly when?: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const chart = (file: string) =>
  readFileSync(new URL(`../../../charts/scale-resolver/${file}`, import.meta.url), "utf8");

test("by default the chart grants no right to delete Services or to change routes", () => {
  const values = parse(chart("values.yaml")) as Readonly<Record<string, { readonly enabled?: boolean } | undefined>>;
  const { objects } = parse(chart("files/rules.json")) as { readonly objects: readonly Rule[] };
  const isOn = ({ when }: Rule) => when === undefined || values[when.split(".")[0] ?? ""]?.enabled !== false;
  const granted = objects.filter(isOn);
  const may = (verb: string, resource: string, rules: readonly Rule[]) =>
    rules.some(({ verbs, resources }) => verbs.includes(verb) && resources.includes(resource));
  for (const [verb, resource] of [
    ["delete", "services"],
    ["patch", "virtualservices"],
    ["patch", "httproutes"],
  ] as const) {
    expect([resource, may(verb, resource, granted), may(verb, resource, objects)]).toEqual([resource, false, true]);
  }
  expect(may("patch", "deployments/scale", granted)).toBe(true);
  const onNamespaces = objects.filter(({ resources }) => resources.includes("namespaces"));
  expect(onNamespaces.map(({ verbs }) => verbs)).toEqual([["get"]]);
});
