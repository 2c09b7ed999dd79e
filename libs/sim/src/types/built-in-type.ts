import type { Schema } from "../schema/schema.ts";
import { ageColumn, builtInColumns, nameColumn } from "./built-in-columns.ts";
import { objectSchema } from "./metadata-schema.ts";
import type { ResourceType } from "./resource-type.ts";

export type Properties = Readonly<Record<string, Schema>>;
type Own = Partial<Omit<ResourceType, "schema">> & { readonly required?: readonly string[] };

/** A type with a status subresource and a generation that is increased. */
export const apart = { status: "apart", generation: true } as const;

/** `apiVersion kind plural`, the fields that such objects have, and what else sets the type apart. */
export function builtIn(name: string, properties: Properties, { required = [], ...own }: Own = {}): ResourceType {
  const [apiVersion = "", kind = "", plural = "", scope] = name.split(" ");
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  return {
    ...{ group, version, kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    ...{ shortNames: [], categories: [] },
    ...{ namespaced: scope !== "cluster", custom: false, nameRule: "subdomain", status: false, scale: undefined },
    ...{ generation: false, review: false, answersWithDeleted: false },
    columns: builtInColumns[plural] ?? [nameColumn, ageColumn],
    schema: objectSchema({ properties, required }),
    ...own,
    selectable: ["metadata.name", "metadata.namespace", ...(own.selectable ?? [])],
  };
}
