import { equal, type Fields, fieldsOr, listOr, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { timestamp } from "../objects/identity.ts";
import { customTypes } from "../types/custom-types.ts";
import { tableName } from "../types/resource-type.ts";
import { type Behaviour, Later, type World } from "./behaviour.ts";

const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

/** Serves the types of definitions, and says so in their conditions. Without it there are no custom types. */
export const definitions: Behaviour = (world) => {
  const later = new Later(world.clock, (name) => establish(world, name));
  const stop = world.store.listen((table, { type, object, previous }) => {
    if (table.name !== DEFINITIONS) return;
    if (type === "DELETED") withdraw(world, object);
    else if (!equal(previous?.["spec"], object["spec"])) later.add(object.metadata.name);
  });
  return () => {
    stop();
    later.stop();
  };
};

function establish({ store, types, objects, clock }: World, name: string): void {
  const definition = store.table(DEFINITIONS).get(name);
  const type = types.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (definition === undefined || type === undefined) return;
  const served = customTypes(definition);
  types.define(name, served);
  // The memory of a type begins with it.
  for (const each of served) store.table(tableName(each));
  const status = statusOf(definition, timestamp(clock.now()));
  const options = { manager: "evenkeel-sim", part: "status", subresource: "status" } as const;
  objects.update(type, { namespace: undefined, name }, (old) => ({ ...old, status }), options);
}

function withdraw({ store, types }: World, definition: StoredObject): void {
  types.undefine(definition.metadata.name);
  for (const type of customTypes(definition)) store.drop(tableName(type));
}

function statusOf(definition: StoredObject, lastTransitionTime: string): Fields {
  const spec = fieldsOr(definition["spec"]);
  const stored = listOr(spec["versions"])
    .map(fieldsOr)
    .find(({ storage }) => storage === true);
  const known = listOr(fieldsOr(definition["status"])["storedVersions"]).map((one) => textOr(one));
  const condition = (type: string, reason: string, message: string): Fields => {
    const before = listOr(fieldsOr(definition["status"])["conditions"])
      .map(fieldsOr)
      .find((one) => one["type"] === type);
    return before ?? { type, status: "True", lastTransitionTime, reason, message };
  };
  return {
    acceptedNames: spec["names"],
    storedVersions: [...new Set([...known, textOr(stored?.["name"])])],
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
  };
}
