import type { Clock } from "@evenkeel/runtime";
import { applyConfig } from "../apply/apply.ts";
import { managersAfterUpdate, type Writer } from "../apply/managers.ts";
import { equal, type Fields, fieldsOr, isFields, listOr, omit, textOr } from "../json.ts";
import { type ManagedFields, objectKey, type StoredObject } from "../object.ts";
import { prune } from "../schema/prune.ts";
import { Rules } from "../schema/rules.ts";
import { ApiFault, alreadyExists, badRequest, forbidden, invalidOptions, notFound, requiredValue } from "../status.ts";
import type { Store } from "../storage/store.ts";
import type { Table } from "../storage/table.ts";
import { apiVersionOf, asVersion, type ResourceType, tableName } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";
import { decode, type FieldValidation } from "./decode.ts";
import { type DeleteOptions, isFinished, marked } from "./deletion.ts";
import { makeSuffix, makeUid, type Random, timestamp } from "./identity.ts";
import { checkPreconditions, refuseOther, refuseOutdated, type UidRole } from "./preconditions.ts";
import { validateObject } from "./validate-object.ts";

export interface WriteOptions {
  /** Who owns the fields that are written. */
  readonly manager: string;
  readonly dryRun?: boolean;
  readonly validation?: FieldValidation;
  /** The part that is written; the object without its status otherwise. */
  readonly part?: "status" | undefined;
  /** What managedFields calls the part. */
  readonly subresource?: string | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean;
}

export interface Written {
  readonly object: StoredObject;
  readonly warnings: readonly string[];
  readonly created?: boolean;
}

/** Which object. */
export interface Place {
  readonly namespace: string | undefined;
  readonly name: string;
}

interface Parts {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly clock: Clock;
  readonly random: Random;
}

/** A write that is under way. */
interface Proposal {
  readonly type: ResourceType;
  readonly old: StoredObject;
  readonly body: unknown;
  readonly options: WriteOptions;
  readonly uid: UidRole;
  readonly managedFields?: readonly ManagedFields[];
}

/** How often a generated name that is taken is replaced by another. */
const NAME_ATTEMPTS = 8;

/** The verbs, as the API server carries them out once a request is understood and allowed. */
export class Objects {
  readonly #parts: Parts;
  readonly #rules = new Rules();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The stored object. Fails with NotFound. */
  get(type: ResourceType, { namespace, name }: Place): StoredObject {
    const object = this.#table(type).get(objectKey(namespace, name));
    if (object === undefined) throw notFound(type, name);
    return asVersion(type, object);
  }

  create(type: ResourceType, namespace: string | undefined, body: unknown, options: WriteOptions): Written {
    const { object, warnings } = decode(type, body, options.validation ?? "Warn");
    this.#checkNamespace(type, namespace, object.metadata);
    if (textOr(object.metadata["resourceVersion"]) !== "") {
      throw new ApiFault(500, "InternalError", "resourceVersion should not be set on objects to be created");
    }
    const made = this.#named(type, namespace, object);
    const writer = this.#writer(type, options, "Update");
    const managedFields = managersAfterUpdate(undefined, made, type.schema, writer);
    return { object: this.#insert(type, made, managedFields, options), warnings, created: true };
  }

  replace(type: ResourceType, place: Place, body: unknown, options: WriteOptions): Written {
    return this.#write({ type, old: this.get(type, place), body, options, uid: "precondition" });
  }

  /** Reads, changes and writes an object in one step. */
  update(type: ResourceType, place: Place, change: (old: StoredObject) => unknown, options: WriteOptions): Written {
    const old = this.get(type, place);
    return this.#write({ type, old, body: change(old), options, uid: options.part === "status" ? "ignored" : "field" });
  }

  apply(type: ResourceType, place: Place, body: unknown, options: ApplyOptions): Written {
    if (options.manager === "") {
      throw invalidOptions("PatchOptions", [requiredValue("fieldManager", "is required for apply patch")]);
    }
    if (!isFields(body)) throw badRequest("error decoding YAML: an apply patch is an object");
    const given = { ...body, metadata: { ...fieldsOr(body["metadata"]), ...omit({ ...place }) } };
    if (listOr(given.metadata["managedFields"]).length > 0) throw badRequest("metadata.managedFields must be nil");
    decode(type, given, options.validation ?? "Warn");
    const config = prune(given, type.schema).value as typeof given & Fields;
    const found = this.#table(type).get(objectKey(place.namespace, place.name));
    const live = found === undefined ? undefined : asVersion(type, found);
    if (live === undefined && options.subresource !== undefined) throw notFound(type, place.name);
    if (live === undefined) return this.#applyNew(type, place, config, options);
    refuseOutdated(type, live, config.metadata);
    const { part } = options;
    const stated = part === undefined ? omit(config, ...(type.status === false ? [] : ["status"])) : onlyStatus(config);
    const writer = this.#writer(type, options, "Apply");
    const applied = applyConfig(live, stated, type.schema, writer, options.force ?? false);
    const versioned = { ...applied.object, apiVersion: config["apiVersion"], kind: config["kind"] };
    return this.#write({
      type,
      old: live,
      body: versioned,
      options,
      uid: "precondition",
      managedFields: applied.managedFields,
    });
  }

  /** Deletes an object, or marks it if something keeps it. `gone` tells which. */
  delete(type: ResourceType, place: Place, options: DeleteOptions = {}): { object: StoredObject; gone: boolean } {
    const old = this.get(type, place);
    checkPreconditions(type, old, options.preconditions ?? {});
    const next = marked(old, options, this.#parts.clock.now());
    if (isFinished(next)) return { object: this.#remove(type, old, options.dryRun), gone: true };
    if (equal(next, old) || options.dryRun === true) return { object: next, gone: false };
    return { object: this.#parts.store.put(this.#table(type), next), gone: false };
  }

  #table(type: ResourceType): Table {
    return this.#parts.store.table(tableName(type));
  }

  #writer(type: ResourceType, { manager, subresource }: WriteOptions, operation: Writer["operation"]): Writer {
    const time = timestamp(this.#parts.clock.now());
    return { manager, operation, apiVersion: apiVersionOf(type), subresource, time };
  }

  #applyNew(type: ResourceType, { namespace }: Place, config: Fields, options: ApplyOptions): Written {
    const { object, warnings } = decode(type, config, options.validation ?? "Warn");
    this.#checkNamespace(type, namespace, object.metadata);
    if (textOr(object.metadata["resourceVersion"]) !== "" || textOr(object.metadata["uid"]) !== "") {
      throw notFound(type, textOr(object.metadata["name"]));
    }
    const made = this.#named(type, namespace, object);
    const { managedFields } = applyConfig(
      undefined,
      omit(config, "status"),
      type.schema,
      this.#writer(type, options, "Apply"),
      false,
    );
    return { object: this.#insert(type, made, managedFields, options), warnings, created: true };
  }

  /** Where an object may be created: its namespace is the request's, exists, and stays. */
  #checkNamespace(type: ResourceType, namespace: string | undefined, metadata: Fields): void {
    const own = textOr(metadata["namespace"]);
    if (own !== "" && own !== namespace) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
    const namespaces = this.#parts.types.find("", "v1", "namespaces");
    if (!type.namespaced || namespaces === undefined) return;
    const { metadata: found } = this.get(namespaces, { namespace: undefined, name: namespace ?? "" });
    if (found.deletionTimestamp === undefined) return;
    const why = `unable to create new content in namespace ${found.name} because it is being terminated`;
    const cause = {
      reason: "NamespaceTerminating",
      message: `namespace ${found.name} is being terminated`,
      field: "metadata.namespace",
    };
    throw forbidden(type, textOr(metadata["name"]), why, [cause]);
  }

  /** The object with its identity, as a create stores it. */
  #named(type: ResourceType, namespace: string | undefined, object: Fields & { metadata: Fields }): Fields {
    const { clock, random } = this.#parts;
    const given = omit(
      object.metadata,
      "uid",
      "resourceVersion",
      "generation",
      "creationTimestamp",
      "deletionTimestamp",
      "deletionGracePeriodSeconds",
      "managedFields",
      "selfLink",
    );
    const metadata = {
      ...given,
      name: textOr(given["name"]) || this.#generateName(type, namespace, textOr(given["generateName"])),
      ...(type.namespaced ? { namespace } : {}),
      uid: makeUid(random),
      creationTimestamp: timestamp(clock.now()),
      ...(type.generation ? { generation: 1 } : {}),
    };
    const stateless = type.status === "apart" ? omit(object, "status") : object;
    const named = { ...stateless, metadata };
    return type.prepare?.(named) ?? named;
  }

  #generateName(type: ResourceType, namespace: string | undefined, prefix: string): string {
    if (prefix === "") return "";
    for (let attempt = 0; ; attempt++) {
      const name = prefix + makeSuffix(this.#parts.random);
      if (attempt >= NAME_ATTEMPTS || this.#table(type).get(objectKey(namespace, name)) === undefined) return name;
    }
  }

  #insert(
    type: ResourceType,
    made: Fields,
    managedFields: readonly ManagedFields[],
    options: WriteOptions,
  ): StoredObject {
    validateObject(type, made, undefined, this.#rules);
    const object = { ...made, metadata: { ...fieldsOr(made["metadata"]), managedFields } } as unknown as StoredObject;
    const { namespace, name } = object.metadata;
    const table = this.#table(type);
    if (table.get(objectKey(namespace, name)) !== undefined) throw alreadyExists(type, name);
    return options.dryRun === true ? object : this.#parts.store.put(table, object);
  }

  #write({ type, old, body, options, uid, managedFields }: Proposal): Written {
    const { object, warnings } = decode(type, body, options.validation ?? "Warn");
    refuseOther(type, old, object.metadata, uid);
    const next = this.#merged(type, old, object, options);
    validateObject(type, next, old, this.#rules);
    const managers =
      managedFields ?? managersAfterUpdate(old, next, type.schema, this.#writer(type, options, "Update"));
    const written = { ...next, metadata: { ...next.metadata, managedFields: managers } };
    if (equal(written, old) || options.dryRun === true) return { object: written, warnings };
    if (isFinished(written)) return { object: this.#remove(type, written), warnings };
    return { object: this.#parts.store.put(this.#table(type), written), warnings };
  }

  /** What a write makes of the object: its own part is new, what the server keeps stays. */
  #merged(type: ResourceType, old: StoredObject, object: Fields, { part }: WriteOptions): StoredObject {
    if (part === "status") return { ...old, ...omit({ status: object["status"] }) };
    const { status, ...own } = object;
    const state = type.status === false ? status : old["status"];
    const { metadata } = old;
    const kept = omit({
      ...{
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
      ...{
        generation: metadata.generation,
        creationTimestamp: metadata.creationTimestamp,
        generateName: metadata.generateName,
      },
      ...{
        deletionTimestamp: metadata.deletionTimestamp,
        deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds,
      },
    });
    const next = {
      ...own,
      ...(state === undefined ? {} : { status: state }),
      metadata: { ...fieldsOr(own["metadata"]), ...kept },
    };
    const changed = type.generation && !equal(desired(type, next), desired(type, old));
    const generation = changed ? { generation: (metadata.generation ?? 0) + 1 } : {};
    return { ...next, metadata: { ...next.metadata, ...generation } } as unknown as StoredObject;
  }

  #remove(type: ResourceType, object: StoredObject, dryRun = false): StoredObject {
    return dryRun ? object : this.#parts.store.remove(this.#table(type), object);
  }
}

/** What metadata.generation counts the changes of. */
function desired(type: ResourceType, object: Fields): Fields {
  return omit(object, "apiVersion", "kind", "metadata", ...(type.status === false ? [] : ["status"]));
}

function onlyStatus({ apiVersion, kind, status }: Fields): Fields {
  return omit({ apiVersion, kind, status });
}
