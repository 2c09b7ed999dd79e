import { fieldsOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { type ResourceType, tableName } from "../types/resource-type.ts";
import { type Behaviour, Later, type World } from "./behaviour.ts";

const NAMESPACES = "/namespaces";

/** Empties namespaces that are deleted, and lets them go when they are empty. */
export const namespaceDeletion: Behaviour = (world) => {
  const later = new Later(world.clock, (name) => empty(world, name));
  const stop = world.store.listen((table, { type, object }) => {
    const { name, namespace, deletionTimestamp } = object.metadata;
    if (table.name === NAMESPACES && type !== "DELETED" && deletionTimestamp !== undefined) later.add(name);
    if (type === "DELETED" && namespace !== undefined && isGoing(world, namespace)) later.add(namespace);
  });
  return () => {
    stop();
    later.stop();
  };
};

function isGoing({ store }: World, name: string): boolean {
  return store.table(NAMESPACES).get(name)?.metadata.deletionTimestamp !== undefined;
}

function empty(world: World, name: string): void {
  const { types, objects } = world;
  const namespaces = types.find("", "v1", "namespaces");
  if (!isGoing(world, name) || namespaces === undefined) return;
  for (const { type, object } of contents(world, name)) {
    if (object.metadata.deletionTimestamp === undefined)
      objects.delete(type, { namespace: name, name: object.metadata.name });
  }
  if (contents(world, name).length > 0) return;
  const release = (old: StoredObject): unknown => ({ ...old, spec: { ...fieldsOr(old["spec"]), finalizers: [] } });
  objects.update(namespaces, { namespace: undefined, name }, release, { manager: "namespace-controller" });
}

function contents({ store, types }: World, namespace: string): { type: ResourceType; object: StoredObject }[] {
  const tables = new Map(types.all().map((type) => [tableName(type), type]));
  return [...tables].flatMap(([table, type]) => {
    const own = type.namespaced ? store.table(table).objects() : [];
    return own.filter(({ metadata }) => metadata.namespace === namespace).map((object) => ({ type, object }));
  });
}
