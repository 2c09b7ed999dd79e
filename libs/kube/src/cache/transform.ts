import type { KubeObject, ObjectMeta } from "../objects/object.ts";
import { without } from "../objects/without.ts";

/**
 * Reduces an object to what its readers need before it is stored. It must keep name, namespace, uid and
 * resourceVersion.
 */
export type Transform<T extends KubeObject> = (object: T) => T;

/** Removes `metadata.managedFields`, which is often half of an object and which no controller reads. */
export function dropManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  return { ...object, metadata: without(object.metadata, "managedFields") };
}

const identity: readonly (keyof ObjectMeta)[] = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "deletionTimestamp",
];

type Tree = Map<string, Tree>;

/**
 * Keeps the fields at `paths` (`"metadata.labels"`, `"spec.nodeName"`) with everything below them, and what identifies
 * an object and its state: apiVersion, kind, name, namespace, uid, resourceVersion, generation and deletionTimestamp. A
 * path goes through lists: `"spec.containers.resources"` keeps the resources of each container. Other fields are
 * absent, so the type of the result should not contain them.
 */
export function keepOnly<T extends KubeObject>(...paths: readonly string[]): Transform<T> {
  const always = ["apiVersion", "kind", ...identity.map((field) => `metadata.${field}`)];
  const tree = treeOf([...always, ...paths]);
  return (object) => cut(object, tree) as T;
}

/** An empty tree means everything below. */
function treeOf(paths: readonly string[]): Tree {
  const root: Tree = new Map();
  const whole = new Set<Tree>();
  for (const path of paths) {
    let node = root;
    for (const field of path.split(".")) {
      if (whole.has(node)) break;
      let next = node.get(field);
      if (!next) node.set(field, (next = new Map<string, Tree>()));
      node = next;
    }
    node.clear();
    whole.add(node);
  }
  return root;
}

function cut(value: unknown, tree: Tree): unknown {
  if (tree.size === 0 || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => cut(item, tree));
  const kept: Record<string, unknown> = {};
  for (const [field, below] of tree) {
    const found = (value as Readonly<Record<string, unknown>>)[field];
    if (found !== undefined) kept[field] = cut(found, below);
  }
  return kept;
}
