import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@evenkeel/runtime";
import type { Rbac } from "../access/rbac.ts";
import type { Reviews } from "../access/reviews.ts";
import type { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import { type Fields, fieldsOr, textOr, valueAt } from "../json.ts";
import type { StoredObject } from "../object.ts";
import type { Objects, Place, Written } from "../objects/objects.ts";
import { bindPod } from "../parts/binding.ts";
import { evictPod } from "../parts/eviction.ts";
import { applyScale, scaleOf, updateScale } from "../parts/scale.ts";
import { forbidden, methodNotAllowed, noSuchPath, notFound } from "../status.ts";
import type { Store } from "../storage/store.ts";
import { serveLog } from "../streams/log.ts";
import { serveStream } from "../streams/channels.ts";
import type { PodStreams, PodTarget } from "../streams/pod-streams.ts";
import { apiVersionOf, asVersion, type ResourceType, tableName } from "../types/resource-type.ts";
import type { TypeRegistry } from "../types/type-registry.ts";
import { type ApiRequest, type Call, deleteOptions, patcher, writeOptions } from "./call.ts";
import { listPage, tooLarge } from "./list.ts";
import { parseRoute, type Route } from "./route.ts";
import { isTrue, parseSelection, selectedName } from "./selection.ts";
import { tableOf } from "./table.ts";
import { Watch } from "./watch.ts";
import { parseWatchOptions } from "./watch-options.ts";

export interface ApiParts {
  readonly store: Store;
  readonly types: TypeRegistry;
  readonly objects: Objects;
  readonly rbac: Rbac;
  readonly reviews: Reviews;
  readonly tokens: ServiceAccountTokens;
  readonly podStreams: PodStreams;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface ApiAnswer {
  readonly code: number;
  readonly body: Fields;
  readonly warnings?: readonly string[];
}

const verbs: Readonly<Record<string, readonly [one: string, many: string]>> = {
  GET: ["get", "list"],
  POST: ["create", "create"],
  PUT: ["update", "update"],
  PATCH: ["patch", "patch"],
  DELETE: ["delete", "deletecollection"],
};

/** Everything under /api and /apis but discovery: from a request to its answer. */
export class Api {
  readonly #parts: ApiParts;
  readonly #shown = new WeakMap<StoredObject, string>();

  constructor(parts: ApiParts) {
    this.#parts = parts;
  }

  /**
   * Answers a request; undefined if it is a watch or a log, which has taken the response over. Fails with the ApiFault
   * to answer with.
   */
  answer(request: ApiRequest, response: ServerResponse): ApiAnswer | undefined {
    const call = this.#allowed(request);
    const { route } = call;
    const watches = call.verb === "watch";
    if (route.type.computed !== undefined) return this.#computed(call, route.type.computed);
    if (watches) {
      this.#watch(call, response);
      return undefined;
    }
    if (route.type.review) return this.#review(call);
    if (isPods(route) && route.subresource === "log") {
      this.#log(call, response);
      return undefined;
    }
    if (route.name === undefined) return this.#collection(call);
    return route.subresource === undefined ? this.#object(call) : this.#part(call, route.subresource);
  }

  /**
   * Serves a connection that leaves HTTP: exec, attach or port-forward of a pod. Fails with the ApiFault to answer
   * with.
   */
  upgrade(request: ApiRequest, message: IncomingMessage, socket: Duplex, head: Buffer): void {
    const call = this.#allowed(request);
    const kind = (["exec", "attach", "portforward"] as const).find((each) => each === call.route.subresource);
    if (kind === undefined || !isPods(call.route)) throw noSuchPath();
    const target = this.#podTarget(call);
    serveStream(this.#parts.podStreams, { target, kind, query: call.query, request: message, socket, head });
  }

  /** The request as its caller may make it. */
  #allowed(request: ApiRequest): Call {
    const route = parseRoute(this.#parts.types, request.path);
    const [one, many] = verbs[request.method] ?? [];
    if (one === undefined || many === undefined) throw methodNotAllowed();
    const watches = many === "list" && route.name === undefined && isTrue(request.query.get("watch"));
    const call = { ...request, route, verb: watches ? "watch" : route.name === undefined ? many : one };
    this.#authorize(call);
    return call;
  }

  #log(call: Call, response: ServerResponse): void {
    const target = this.#podTarget(call);
    if (call.verb !== "get") throw methodNotAllowed();
    serveLog(this.#parts.podStreams, target, call.query, response);
  }

  #podTarget({ route, query }: Call): PodTarget {
    const place = placeOf(route);
    this.#parts.objects.get(route.type, place);
    return { namespace: place.namespace ?? "", pod: place.name, container: query.get("container") ?? undefined };
  }

  #authorize({ route, verb, caller, query }: Call): void {
    const { type, namespace, subresource } = route;
    const name = route.name ?? selectedName(query);
    const resource = subresource === undefined ? type.plural : `${type.plural}/${subresource}`;
    if (this.#parts.rbac.allows(caller, { verb, group: type.group, resource, namespace, name })) return;
    const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
    const why = `User "${caller.name}" cannot ${verb} resource "${resource}" in API group "${type.group}" ${where}`;
    throw forbidden(type, route.name ?? "", why);
  }

  #collection(call: Call): ApiAnswer {
    const { route, verb, body, query } = call;
    const { type, namespace } = route;
    const { objects, store } = this.#parts;
    if (verb === "list") return this.#list(call);
    if (verb === "create") return this.#answer(call, objects.create(type, namespace, body, writeOptions(call)));
    if (verb !== "deletecollection") throw methodNotAllowed();
    const { items } = listPage(this.#table(type), store.version, query, parseSelection(route, query));
    for (const { metadata } of items) {
      objects.delete(type, { namespace: metadata.namespace, name: metadata.name }, deleteOptions(call));
    }
    return { code: 200, body: { kind: type.listKind, apiVersion: apiVersionOf(type), metadata: {}, items } };
  }

  #object(call: Call): ApiAnswer {
    const { route, verb, body } = call;
    const { type } = route;
    const { objects } = this.#parts;
    const place = placeOf(route);
    switch (verb) {
      case "get":
        return this.#answer(call, { object: objects.get(type, place), warnings: [] });
      case "update":
        return this.#answer(call, objects.replace(type, place, body, writeOptions(call)));
      case "patch":
        return this.#answer(call, this.#patch(call, undefined));
      case "delete":
        return this.#delete(call);
      default:
        throw methodNotAllowed();
    }
  }

  #part(call: Call, subresource: string): ApiAnswer {
    const { route, verb, body } = call;
    const { type } = route;
    const { objects } = this.#parts;
    if (subresource === "eviction" && type.plural === "pods" && verb === "create") return this.#evict(call);
    if (subresource === "binding" && type.plural === "pods" && verb === "create") return this.#bind(call);
    if (subresource === "token" && type.plural === "serviceaccounts" && verb === "create") {
      return { code: 201, body: this.#parts.tokens.issue(type, placeOf(route), fieldsOr(body)) };
    }
    if (subresource === "scale" && type.scale !== undefined) return this.#scale(call);
    if (subresource !== "status" || type.status === false) throw noSuchPath();
    const place = placeOf(route);
    if (verb === "get") return this.#answer(call, { object: objects.get(type, place), warnings: [] });
    const options = { ...writeOptions(call), part: "status", subresource: "status" } as const;
    if (verb === "update") return this.#answer(call, objects.replace(type, place, body, options));
    if (verb === "patch") return this.#answer(call, this.#patch(call, "status"));
    throw methodNotAllowed();
  }

  #patch(call: Call, part: "status" | undefined): Written {
    const { route, contentType, query, body } = call;
    const { objects } = this.#parts;
    const place = placeOf(route);
    const options = part === undefined ? writeOptions(call) : { ...writeOptions(call), part, subresource: part };
    if (contentType === "application/apply-patch+yaml") {
      const force = isTrue(query.get("force"));
      return objects.apply(route.type, place, body, { ...options, manager: query.get("fieldManager") ?? "", force });
    }
    return objects.update(route.type, place, patcher(call), options);
  }

  #scale(call: Call): ApiAnswer {
    const { route, verb, body, contentType, query } = call;
    const { type } = route;
    const { objects } = this.#parts;
    const place = placeOf(route);
    const answer = ({ object, warnings }: Written): ApiAnswer => ({ code: 200, body: scaleOf(type, object), warnings });
    const options = writeOptions(call);
    if (verb === "get") return answer({ object: objects.get(type, place), warnings: [] });
    if (verb === "update") return answer(updateScale(objects, type, place, () => body, options));
    if (verb !== "patch") throw methodNotAllowed();
    if (contentType === "application/apply-patch+yaml") {
      const owned = { ...options, manager: query.get("fieldManager") ?? "", force: isTrue(query.get("force")) };
      return answer(applyScale(objects, type, place, body, owned));
    }
    return answer(updateScale(objects, type, place, patcher(call), options));
  }

  #evict(call: Call): ApiAnswer {
    const { route, body } = call;
    evictPod(this.#parts, route.type, placeOf(route), fieldsOr(body), writeOptions(call).dryRun ?? false);
    return { code: 201, body: success() };
  }

  #bind(call: Call): ApiAnswer {
    const { route, body } = call;
    const node = textOr(valueAt(body, ["target", "name"]));
    if (writeOptions(call).dryRun !== true) bindPod(this.#parts, route.type, placeOf(route), node);
    return { code: 201, body: success() };
  }

  #computed({ route, verb, query }: Call, compute: NonNullable<ResourceType["computed"]>): ApiAnswer {
    const { type, name, namespace, subresource } = route;
    if ((verb !== "list" && verb !== "get") || subresource !== undefined) throw methodNotAllowed();
    const items = compute(this.#parts.store, this.#parts.clock.now()).filter(parseSelection(route, query));
    if (verb === "list")
      return { code: 200, body: { kind: type.listKind, apiVersion: apiVersionOf(type), metadata: {}, items } };
    const found = items.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
    if (found === undefined) throw notFound(type, name ?? "");
    return { code: 200, body: found };
  }

  #review({ route, verb, body, caller }: Call): ApiAnswer {
    if (verb !== "create" || route.subresource !== undefined) throw methodNotAllowed();
    return { code: 201, body: this.#parts.reviews.answer(route.type, fieldsOr(body), caller) };
  }

  #delete(call: Call): ApiAnswer {
    const { type } = call.route;
    const { object, gone } = this.#parts.objects.delete(type, placeOf(call.route), deleteOptions(call));
    if (!gone || type.answersWithDeleted) return { code: 200, body: object };
    const { name, uid } = object.metadata;
    return { code: 200, body: { ...success(), details: { name, group: type.group, kind: type.plural, uid } } };
  }

  #list({ route, query, accept }: Call): ApiAnswer {
    const { type } = route;
    const { store, clock } = this.#parts;
    const { items, metadata } = listPage(this.#table(type), store.version, query, parseSelection(route, query));
    if (wantsTable(accept)) return { code: 200, body: tableOf(type, items, metadata, clock.now()) };
    const apiVersion = apiVersionOf(type);
    const shown = items.map((object) => asVersion(type, object));
    return { code: 200, body: { kind: type.listKind, apiVersion, metadata, items: shown } };
  }

  #watch({ route, query, accept }: Call, response: ServerResponse): void {
    const { type } = route;
    const { store, clock, random } = this.#parts;
    const options = parseWatchOptions(query);
    const selection = parseSelection(route, query);
    if (options.initialEnd && options.notOlderThan > store.version) throw tooLarge(options.notOlderThan, store.version);
    const asTable = (object: StoredObject): string => JSON.stringify(tableOf(type, [object], {}, clock.now()));
    const show = wantsTable(accept) ? asTable : (object: StoredObject) => this.#show(type, object);
    const parts = { type, table: this.#table(type), selection, clock, random, show, version: () => store.version };
    new Watch(response, parts, options).start();
  }

  /** An object as text. All watchers of a change share one. */
  #show(type: ResourceType, object: StoredObject): string {
    if (object.apiVersion !== apiVersionOf(type)) return JSON.stringify(asVersion(type, object));
    let shown = this.#shown.get(object);
    if (shown === undefined) this.#shown.set(object, (shown = JSON.stringify(object)));
    return shown;
  }

  #answer({ route, accept }: Call, { object, warnings, created }: Written): ApiAnswer {
    const code = created === true ? 201 : 200;
    const { resourceVersion } = object.metadata;
    const body = wantsTable(accept)
      ? tableOf(route.type, [object], { resourceVersion }, this.#parts.clock.now())
      : object;
    return { code, body, warnings };
  }

  #table(type: ResourceType) {
    return this.#parts.store.table(tableName(type));
  }
}

function placeOf({ namespace, name, type }: Route): Place {
  if (name === undefined) throw methodNotAllowed();
  if (type.namespaced && namespace === undefined) throw noSuchPath();
  return { namespace, name };
}

const isPods = ({ type }: Route): boolean => type.plural === "pods" && type.group === "";

function success(): Fields {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
}

const wantsTable = (accept: string): boolean => /\bas=Table\b/.test(accept);
