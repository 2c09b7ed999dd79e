import { type Fields, fieldsOr, listOr, textOr } from "../json.ts";
import { nameColumn } from "./built-in-columns.ts";
import { objectSchema } from "./metadata-schema.ts";
import type { Column, ResourceType, ScalePaths } from "./resource-type.ts";

const defaultColumns: readonly Column[] = [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }];

/** The types that a definition brings, one for each version that is served. */
export function customTypes(definition: Fields): readonly ResourceType[] {
  const spec = fieldsOr(definition["spec"]);
  const names = fieldsOr(spec["names"]);
  const kind = textOr(names["kind"]);
  const texts = (value: unknown): string[] => listOr(value).map((one) => textOr(one));
  return listOr(spec["versions"])
    .map(fieldsOr)
    .filter((version) => version["served"] === true)
    .map((version) => {
      const subresources = fieldsOr(version["subresources"]);
      const selectable = listOr(version["selectableFields"]).map((field) =>
        textOr(fieldsOr(field)["jsonPath"]).replace(/^\./, ""),
      );
      const columns = version["additionalPrinterColumns"] as readonly Column[] | undefined;
      return {
        ...{ group: textOr(spec["group"]), version: textOr(version["name"]), kind, plural: textOr(names["plural"]) },
        singular: textOr(names["singular"], kind.toLowerCase()),
        listKind: textOr(names["listKind"], `${kind}List`),
        ...{ shortNames: texts(names["shortNames"]), categories: texts(names["categories"]) },
        ...{ namespaced: spec["scope"] === "Namespaced", custom: true, nameRule: "subdomain", generation: true },
        schema: objectSchema(fieldsOr(fieldsOr(version["schema"])["openAPIV3Schema"])),
        status: subresources["status"] === undefined ? false : "apart",
        scale: subresources["scale"] === undefined ? undefined : scalePaths(fieldsOr(subresources["scale"])),
        selectable: ["metadata.name", "metadata.namespace", ...selectable],
        columns: [nameColumn, ...(columns ?? defaultColumns)],
        ...{ review: false, answersWithDeleted: false },
      } as const;
    });
}

function scalePaths(scale: Fields): ScalePaths {
  const path = (value: unknown): string[] => textOr(value).split(".").slice(1);
  return {
    replicas: path(scale["specReplicasPath"]),
    statusReplicas: path(scale["statusReplicasPath"]),
    selector: scale["labelSelectorPath"] === undefined ? undefined : path(scale["labelSelectorPath"]),
  };
}
