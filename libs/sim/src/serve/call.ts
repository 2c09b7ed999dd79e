import type { Caller } from "../access/users.ts";
import { type Fields, fieldsOr, listOr } from "../json.ts";
import type { DeleteOptions } from "../objects/deletion.ts";
import type { WriteOptions } from "../objects/objects.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicPatch } from "../patch/strategic-patch.ts";
import { qualified } from "../status.ts";
import { unsupported } from "./body.ts";
import type { Route } from "./route.ts";

/** A request whose body has been read. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly contentType: string;
  readonly userAgent: string;
  readonly caller: Caller;
  readonly body: unknown;
}

/** A request that is understood. */
export interface Call extends ApiRequest {
  readonly route: Route;
  readonly verb: string;
}

/** How a write is to be done. */
export function writeOptions({ query, userAgent }: Call): WriteOptions {
  const validation = query.get("fieldValidation");
  return {
    manager: query.get("fieldManager") ?? userAgent.split("/", 1)[0] ?? "unknown",
    dryRun: query.getAll("dryRun").includes("All"),
    validation: validation === "Strict" || validation === "Ignore" ? validation : "Warn",
  };
}

export function deleteOptions({ body, query }: Call): DeleteOptions {
  const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = fieldsOr(body);
  const grace =
    gracePeriodSeconds ?? (query.has("gracePeriodSeconds") ? Number(query.get("gracePeriodSeconds")) : undefined);
  const policy = propagationPolicy ?? query.get("propagationPolicy");
  return {
    preconditions: fieldsOr(preconditions),
    ...(typeof policy === "string" ? { propagationPolicy: policy } : {}),
    ...(typeof grace === "number" ? { gracePeriodSeconds: grace } : {}),
    dryRun: query.getAll("dryRun").includes("All") || listOr(dryRun).includes("All"),
  };
}

/** What the patch of a request makes of an object. */
export function patcher({ route, contentType, body }: Call): (old: Fields) => unknown {
  switch (contentType) {
    case "application/json-patch+json":
      return (old) => jsonPatch(old, body);
    case "application/merge-patch+json":
      return (old) => mergePatch(old, body);
    case "application/strategic-merge-patch+json":
      if (route.type.custom) break;
      return (old) => strategicPatch(old, body, route.type.schema);
  }
  throw unsupported(`${contentType} for ${qualified(route.type, route.type.plural)}`);
}
