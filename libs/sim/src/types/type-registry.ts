import { builtInTypes } from "./built-in-types.ts";
import { apiVersionOf, type ResourceType } from "./resource-type.ts";

/** The types that are served now. */
export class TypeRegistry {
  readonly #types = new Map<string, ResourceType>();
  readonly #byDefinition = new Map<string, readonly ResourceType[]>();

  constructor() {
    for (const type of builtInTypes) this.#types.set(pathKey(type), type);
  }

  all(): readonly ResourceType[] {
    return [...this.#types.values()];
  }

  /** By what paths name. */
  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#types.get(pathKey({ group, version, plural }));
  }

  /** By what objects carry. */
  ofKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.all().find((type) => type.kind === kind && apiVersionOf(type) === apiVersion);
  }

  /** By where objects are kept. */
  ofTable(table: string): ResourceType | undefined {
    return this.all().find(({ group, plural }) => `${group}/${plural}` === table);
  }

  /** Serves the types of a definition instead of those that it defined before. */
  define(definition: string, types: readonly ResourceType[]): void {
    this.undefine(definition);
    this.#byDefinition.set(definition, types);
    for (const type of types) this.#types.set(pathKey(type), type);
  }

  undefine(definition: string): void {
    for (const type of this.#byDefinition.get(definition) ?? []) this.#types.delete(pathKey(type));
    this.#byDefinition.delete(definition);
  }
}

function pathKey({ group, version, plural }: Pick<ResourceType, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}
