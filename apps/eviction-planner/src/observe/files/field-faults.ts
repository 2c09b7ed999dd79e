import type { KubeObject } from "@evenkeel/kube";

type Expected = "text" | "map" | "object" | "list";

/** What is read of objects without asking again. A field that is absent is fine unless its line says `!`. */
const EVERY: Readonly<Record<string, Expected>> = {
  "metadata!": "object",
  "metadata.name!": "text",
  "metadata.namespace": "text",
  "metadata.labels": "map",
  "metadata.annotations": "map",
  "metadata.ownerReferences": "list",
};

const BY_KIND: Readonly<Record<string, Readonly<Record<string, Expected>>>> = {
  Pod: {
    "spec!": "object",
    "spec.containers!": "list",
    "spec.initContainers": "list",
    "spec.volumes": "list",
    "spec.tolerations": "list",
    "spec.topologySpreadConstraints": "list",
    "spec.nodeSelector": "map",
    "spec.nodeName": "text",
    "status.conditions": "list",
    "status.containerStatuses": "list",
    "status.initContainerStatuses": "list",
  },
  Node: {
    "spec.taints": "list",
    "status.allocatable": "object",
    "status.conditions": "list",
    "status.images": "list",
  },
  NodeMetrics: { "timestamp!": "text", "window!": "text", "usage!": "object" },
  PodMetrics: { "timestamp!": "text", "window!": "text", "containers!": "list" },
};

interface Check {
  readonly field: string;
  readonly path: readonly string[];
  readonly expected: Expected;
  readonly isRequired: boolean;
}

const checksOf = (lines: Readonly<Record<string, Expected>>): readonly Check[] =>
  Object.entries(lines).map(([line, expected]) => {
    const field = line.replace("!", "");
    return { field, path: field.split("."), expected, isRequired: line.endsWith("!") };
  });

const checks: ReadonlyMap<string, readonly Check[]> = new Map(
  Object.entries(BY_KIND).map(([kind, lines]) => [kind, checksOf({ ...EVERY, ...lines })]),
);
const otherChecks = checksOf(EVERY);

/** The first field of an object that is not as Kubernetes has it, and why; undefined if all are. */
export function fieldFault(object: KubeObject): string | undefined {
  for (const { field, path, expected, isRequired } of checks.get(object.kind ?? "") ?? otherChecks) {
    const value = valueAt(object, path);
    if (value === undefined) {
      if (isRequired) return `${field} is missing`;
    } else if (!isA[expected](value)) return `${field} is not ${words[expected]}`;
  }
  return undefined;
}

const words: Readonly<Record<Expected, string>> = {
  text: "a text",
  map: "a map of texts",
  object: "an object",
  list: "a list of objects",
};

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isA: Readonly<Record<Expected, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string",
  object: isObject,
  map: (value) => isObject(value) && Object.values(value).every((text) => typeof text === "string"),
  list: (value) => Array.isArray(value) && (value as unknown[]).every(isObject),
};

function valueAt(object: unknown, path: readonly string[]): unknown {
  let value = object;
  for (const field of path) value = isObject(value) ? (value as Record<string, unknown>)[field] : undefined;
  return value;
}
