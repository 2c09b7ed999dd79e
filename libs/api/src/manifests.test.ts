import { describe, expect, test } from "@jest/globals";
import { badManifests, goodManifests, setField, type Manifest } from "../test/manifests.ts";
import { kinds } from "./kinds.ts";
import { parse } from "./parse.ts";

/**
 * What the API server fills in where a field is absent and its parent is not. In lists the manifests say it themselves.
 */
const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Rebalance: {
    "spec.dryRun": false,
    "spec.combine": "max",
    "spec.onExternalChange": "enforce",
    "spec.onDelete": "keep",
    "spec.policy.targettracking.scope": "total",
    "spec.policy.targettracking.onNoData": "hold",
    "spec.metrics.prometheus.timeout": 30,
  },
  ClusterScore: { "spec.owncluster": false },
  RebalancePolicy: {
    "spec.targetVariance": 0.15,
    "spec.hotThreshold": 0.8,
    "spec.coldThreshold": 0.5,
    "spec.hysteresis": 0.05,
    "spec.maxEvictionsPerMinute": 3,
    "spec.resourceWeights": { cpu: 0.7, memory: 0.3 },
    "spec.basis": "usage",
    "spec.respectPodPriority": true,
    "spec.respectPDB": true,
    "spec.dryRun": true,
    "spec.backoffDuration": "15m",
  },
  WorkloadSLO: {},
  NodeClass: {},
  CollectorLoadBalancer: {},
  ElastiService: {
    "spec.cooldownPeriod": 900,
    "spec.enabledPeriod.schedule": "0 0 * * *",
    "spec.enabledPeriod.duration": "24h",
  },
};

function withDefaults(manifest: Manifest): Manifest {
  const filled = structuredClone(manifest);
  for (const [path, value] of Object.entries(DEFAULTS[manifest.kind] ?? {})) {
    const keys = path.split(".");
    const field = keys.pop() ?? "";
    const parent = keys.reduce<unknown>(
      (object, key) => (object as Record<string, unknown> | undefined)?.[key],
      filled,
    );
    if (typeof parent === "object" && !Object.hasOwn(parent ?? {}, field)) setField(filled, path, value);
  }
  return filled;
}

function parseAs(kind: string, input: unknown) {
  const schema = kinds.find((known) => known.kind === kind)?.schema;
  if (schema === undefined) throw new Error(`no kind ${kind}`);
  return parse(schema, input);
}

describe.each(goodManifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest] as const))(
  "%s %s",
  (kind, _name, manifest) => {
    test("is taken unchanged, with the defaults added", () => {
      expect(parseAs(kind, manifest)).toEqual({ ok: true, value: withDefaults(manifest) });
    });

    test("stays as it is when what was read is read again", () => {
      const once = parseAs(kind, manifest);
      expect(parseAs(kind, once.ok && JSON.parse(JSON.stringify(once.value)))).toEqual(once);
    });
  },
);

test("every kind has a full and a minimal manifest", () => {
  const named = (name: string) =>
    goodManifests.filter(({ metadata }) => metadata.name === name).map(({ kind }) => kind);
  const all = kinds.map(({ kind }) => kind);
  expect(named("full")).toEqual(all);
  expect(named("minimal")).toEqual(all);
});

describe("a manifest is refused with a line on the field, and on no other:", () => {
  test.each(badManifests.map((bad) => [bad.kind, bad.title, bad] as const))("%s with %s", (kind, _title, bad) => {
    const parsed = parseAs(kind, bad.manifest);
    const lines = parsed.ok ? [] : parsed.errors;
    expect(lines.map((line) => line.slice(0, line.indexOf(": ")))).toEqual(lines.map(() => bad.field));
    expect(lines.filter((line) => !/: .*(expected|must be set)/.test(line))).toEqual([]);
    expect(lines).not.toEqual([]);
  });
});
