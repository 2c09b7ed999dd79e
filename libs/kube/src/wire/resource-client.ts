import { BadName, BadResponse } from "../errors.ts";
import type { CallAnswer, Exchange } from "./exchange.ts";
import type { Verb } from "./kube-metrics.ts";
import type { KubeObject, ObjectName, ResourceType } from "../objects/object.ts";
import type { KubeRequest, Query, ResourceOptions } from "./request.ts";
import type * as contract from "../objects/resource.ts";
import { apiVersionOf, pathSegment, rootPath } from "./resource-path.ts";
import { isObject } from "./status.ts";
import { watchEvents } from "./watch.ts";

/** Objects per page by default: few enough that parsing a page does not block the event loop for long. */
const PAGE = 500;

const patchTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

/** The subresources that are written separately. */
type Subresource = "status" | "scale";

/** Paths, names and options of the calls of a resource and of its parts. */
class Endpoint {
  readonly exchange: Exchange;
  readonly type: ResourceType;
  readonly #options: ResourceOptions;
  readonly #subresource: Subresource | undefined;

  constructor(exchange: Exchange, type: ResourceType, options: ResourceOptions, subresource?: Subresource) {
    this.exchange = exchange;
    this.type = type;
    this.#options = options;
    this.#subresource = subresource;
  }

  part(subresource: Subresource): Endpoint {
    return new Endpoint(this.exchange, this.type, this.#options, subresource);
  }

  /** A request for all objects, or those of a namespace. */
  collection(verb: Verb, namespace: string | undefined): KubeRequest {
    const { plural, namespaced } = this.type;
    const one = namespaced && namespace !== undefined;
    const within = one ? `/namespaces/${pathSegment(verb, plural, "namespace", namespace)}` : "";
    const what = one ? `${plural} in ${namespace}` : plural;
    return { path: `${rootPath(this.type)}${within}/${plural}`, verb, what, ...this.#options };
  }

  /** A request for one object. */
  object(verb: Verb, { namespace, name }: ObjectName): KubeRequest {
    const { plural, namespaced } = this.type;
    if (namespaced && namespace === undefined) {
      throw new BadName({ verb, resource: plural, fault: `${name} needs a namespace` });
    }
    const { path } = this.collection(verb, namespace);
    const part = this.#subresource === undefined ? "" : `/${this.#subresource}`;
    const what = `${plural}${part} ${namespaced ? `${namespace ?? ""}/` : ""}${name}`;
    return { path: `${path}/${pathSegment(verb, plural, "name", name)}${part}`, verb, what, ...this.#options };
  }

  /** Sends a request and checks that the response is an object. */
  async send<P extends KubeObject>(request: KubeRequest, options: contract.CallOptions): Promise<P> {
    const answer = await this.exchange.call({ ...request, ...callOptions(options) });
    checkObject(answer);
    return answer.json as P;
  }
}

/** Reads and writes of one object, or of a part of it. */
class PartClient<P extends KubeObject> implements contract.Part<P> {
  protected readonly endpoint: Endpoint;
  readonly #identity: { readonly apiVersion: string; readonly kind: string };

  constructor(endpoint: Endpoint, identity: { readonly apiVersion: string; readonly kind: string }) {
    this.endpoint = endpoint;
    this.#identity = identity;
  }

  async get(object: ObjectName, options: contract.CallOptions = {}): Promise<P> {
    return this.endpoint.send<P>(this.endpoint.object("get", object), options);
  }

  async replace(value: P, options: contract.WriteOptions = {}): Promise<P> {
    const request = this.endpoint.object("update", nameOf(value));
    const body = this.identified(value);
    return this.endpoint.send<P>({ ...request, method: "PUT", body, query: writeQuery(options) }, options);
  }

  async patch(object: ObjectName, patch: contract.Patch, options: contract.WriteOptions = {}): Promise<P> {
    const request = this.endpoint.object("patch", object);
    const body = patch.type === "json" ? patch.operations : patch.body;
    const form = { method: "PATCH", contentType: patchTypes[patch.type], idempotent: patch.type === "merge" } as const;
    return this.endpoint.send<P>({ ...request, ...form, body, query: writeQuery(options) }, options);
  }

  async apply(value: P, options: contract.ApplyOptions): Promise<P> {
    const request = this.endpoint.object("apply", nameOf(value));
    // JSON is YAML.
    const form = { method: "PATCH", contentType: "application/apply-patch+yaml", idempotent: true } as const;
    const query = { ...writeQuery(options), force: options.force };
    return this.endpoint.send<P>({ ...request, ...form, body: this.identified(value), query }, options);
  }

  /** The object with apiVersion and kind, which the server requires. */
  protected identified(value: P): P {
    return { ...this.#identity, ...value };
  }
}

/** One type of object over HTTP. */
export class ResourceClient<T extends KubeObject> extends PartClient<T> implements contract.Resource<T> {
  readonly status: contract.Part<T>;
  readonly scale: contract.Part<contract.Scale>;

  constructor(exchange: Exchange, type: ResourceType, options: ResourceOptions) {
    const endpoint = new Endpoint(exchange, type, options);
    const identity = { apiVersion: apiVersionOf(type), kind: type.kind };
    super(endpoint, identity);
    this.status = new PartClient<T>(endpoint.part("status"), identity);
    this.scale = new PartClient(endpoint.part("scale"), { apiVersion: "autoscaling/v1", kind: "Scale" });
  }

  async list(options: contract.ListOptions = {}): Promise<contract.ListPage<T>> {
    const { limit, continue: token, resourceVersion, resourceVersionMatch } = options;
    const query = { ...selection(options), limit, continue: token, resourceVersion, resourceVersionMatch };
    const request = { ...this.endpoint.collection("list", options.namespace), query };
    const answer = await this.endpoint.exchange.call({ ...request, ...callOptions(options) });
    return this.#page(answer);
  }

  async *pages(options: contract.ListOptions = {}): AsyncGenerator<contract.ListPage<T>, void, undefined> {
    let next: contract.ListOptions = { limit: PAGE, ...options };
    for (;;) {
      const page = await this.list(next);
      yield page;
      if (page.continue === undefined) return;
      // The continue token contains the version; the server refuses both together.
      next = { ...next, continue: page.continue, resourceVersion: undefined, resourceVersionMatch: undefined };
    }
  }

  async *watch(options: contract.WatchOptions): AsyncGenerator<contract.WatchEvent<T>, void, undefined> {
    const { resourceVersion, resourceVersionMatch, sendInitialEvents, allowWatchBookmarks, timeoutSeconds } = options;
    const query = {
      ...{ ...selection(options), watch: true, resourceVersion, resourceVersionMatch },
      ...{ sendInitialEvents, allowWatchBookmarks, timeoutSeconds },
    };
    const request = { ...this.endpoint.collection("watch", options.namespace), query, lane: "streams" } as const;
    yield* watchEvents<T>(this.endpoint.exchange, request, options);
  }

  async create(object: T, options: contract.WriteOptions = {}): Promise<T> {
    const request = this.endpoint.collection("create", object.metadata.namespace);
    const { namespaced, plural } = this.endpoint.type;
    const { namespace, name, generateName } = object.metadata;
    const shown = name ?? `${generateName ?? ""}*`;
    if (namespaced && namespace === undefined) {
      throw new BadName({ verb: "create", resource: plural, fault: `${shown} needs a namespace` });
    }
    const what = `${plural} ${namespaced ? `${namespace ?? ""}/` : ""}${shown}`;
    const form = { what, method: "POST", body: this.identified(object), query: writeQuery(options) } as const;
    return this.endpoint.send<T>({ ...request, ...form }, options);
  }

  async delete(object: ObjectName, options: contract.DeleteOptions = {}): Promise<T | undefined> {
    const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun } = options;
    const body = {
      ...{ apiVersion: "v1", kind: "DeleteOptions", preconditions, propagationPolicy, gracePeriodSeconds },
      ...(dryRun === true ? { dryRun: ["All"] } : {}),
    };
    const request = { ...this.endpoint.object("delete", object), method: "DELETE", body } as const;
    const answer = await this.endpoint.exchange.call({ ...request, ...callOptions(options) });
    if (isObject(answer.json) && answer.json["kind"] === "Status") return undefined;
    checkObject(answer);
    return answer.json as T;
  }

  #page({ json, call }: CallAnswer): contract.ListPage<T> {
    const { items, metadata } = isObject(json) ? json : {};
    const { resourceVersion, continue: token, remainingItemCount } = isObject(metadata) ? metadata : {};
    if (typeof resourceVersion !== "string") throw new BadResponse({ call, fault: "it is not a list" });
    // Go writes an empty list of some types as null.
    if (items !== null && !Array.isArray(items)) throw new BadResponse({ call, fault: "it has no items" });
    const identity = this.identified({} as T);
    return {
      items: (items ?? []).map((item: unknown) => {
        if (!isObject(item) || !isObject(item["metadata"])) {
          throw new BadResponse({ call, fault: "an item has no metadata" });
        }
        return Object.assign(item, identity);
      }),
      resourceVersion,
      ...(typeof token === "string" && token !== "" ? { continue: token } : {}),
      ...(typeof remainingItemCount === "number" ? { remainingItemCount } : {}),
    };
  }
}

function checkObject({ json, call }: CallAnswer): void {
  if (!isObject(json) || !isObject(json["metadata"])) {
    throw new BadResponse({ call, fault: "it is not an object with metadata" });
  }
}

function nameOf({ metadata: { namespace, name = "" } }: KubeObject): ObjectName {
  return { namespace, name };
}

function selection({ labelSelector, fieldSelector }: contract.Selection): Query {
  return { labelSelector, fieldSelector };
}

function writeQuery({ fieldManager, fieldValidation, dryRun }: contract.WriteOptions): Query {
  return { fieldManager, fieldValidation, dryRun: dryRun === true ? "All" : undefined };
}

function callOptions({ signal, deadline, beforeSend }: contract.CallOptions): contract.CallOptions {
  return { signal, beforeSend, ...(deadline === undefined ? {} : { deadline }) };
}
