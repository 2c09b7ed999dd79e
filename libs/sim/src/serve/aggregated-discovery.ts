import { createHash } from "node:crypto";
import { type Fields, isFields, listOr, textOr } from "../json.ts";
import type { ResourceType } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";
import { entries } from "./discovery.ts";

const CONTENT_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export interface Document {
  readonly body: Fields;
  readonly contentType: string;
  readonly etag: string;
}

/** All groups of /api or /apis in one document, if the client accepts it; undefined if it is not asked for. */
export function aggregatedDiscovery(types: TypeRegistry, path: string, accept: string): Document | undefined {
  const wanted = accept.split(",").some((each) => /as=APIGroupDiscoveryList/.test(each) && /;\s*v=v2\b/.test(each));
  if (!wanted || (path !== "/api" && path !== "/apis")) return undefined;
  const served = types.all().filter(({ group }) => (group === "") === (path === "/api"));
  const groups = Map.groupBy(served, ({ group }) => group);
  const items = [...groups].map(([name, own]) => ({
    metadata: { ...(name === "" ? {} : { name }), creationTimestamp: null },
    versions: [...Map.groupBy(own, ({ version }) => version)].map(([version, resources]) => ({
      ...{ version, freshness: "Current" },
      resources: resources.map(resourceOf),
    })),
  }));
  const body = { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
  const etag = `"${createHash("sha256").update(JSON.stringify(items)).digest("hex").toUpperCase()}"`;
  return { body, contentType: CONTENT_TYPE, etag };
}

function resourceOf(type: ResourceType): Fields {
  const [own = {}, ...parts] = entries(type);
  // A kind of the type's own group and version does not repeat them.
  const kindOf = ({ group, version, kind }: Fields): Fields => ({
    ...{ group: textOr(group), version: textOr(version), kind: textOr(kind) },
  });
  const { shortNames, categories, verbs } = own;
  const subresources = parts.filter(isFields).map((part) => ({
    subresource: textOr(part["name"]).split("/")[1] ?? "",
    responseKind: kindOf(part),
    verbs: part["verbs"],
  }));
  return {
    ...{ resource: type.plural, responseKind: kindOf(own), scope: type.namespaced ? "Namespaced" : "Cluster" },
    ...{ singularResource: type.singular, verbs },
    ...(listOr(shortNames).length === 0 ? {} : { shortNames }),
    ...(listOr(categories).length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}
