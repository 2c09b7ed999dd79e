import { expect } from "@jest/globals";
import type { CodedError } from "@evenkeel/runtime";
import type { KubeClient } from "../wire/client.ts";
import { AlreadyExists } from "../errors.ts";
import type { KubeObject, ObjectName } from "../objects/object.ts";
import type { Refusal } from "../wire/refusal.ts";
import type { Resource, WatchEvent, WatchOptions } from "../objects/resource.ts";
import { type ConfigMap, configMaps, namespaces, serviceAccounts } from "../objects/resource-types.ts";

/** What an implementation of the Kubernetes API provides for the suite. The client reaches all of it over HTTP. */
export interface KubeHarness {
  /** The client of an administrator, or of a user with only the rights that RBAC grants. */
  client(user?: string): Promise<KubeClient>;
  /** A client with an unknown token. */
  stranger(): Promise<KubeClient>;
  /** Resolves when all present continue tokens have expired. */
  expire(): Promise<void>;
  stop(): Promise<void>;
}

/** The server under test, and helpers for the cases. */
export class World {
  readonly #start: () => Promise<KubeHarness>;
  #harness: KubeHarness | undefined;
  #admin: KubeClient | undefined;

  constructor(start: () => Promise<KubeHarness>) {
    this.#start = start;
  }

  async begin(): Promise<void> {
    this.#harness = await this.#start();
    this.#admin = await this.#harness.client();
  }

  async end(): Promise<void> {
    await this.#harness?.stop();
  }

  get harness(): KubeHarness {
    if (this.#harness === undefined) throw new Error("the server has not been started");
    return this.#harness;
  }

  get admin(): KubeClient {
    if (this.#admin === undefined) throw new Error("the server has not been started");
    return this.#admin;
  }

  get configMaps(): Resource<ConfigMap> {
    return this.admin.resource(configMaps);
  }

  /** A new namespace in which pods can be created. */
  async namespace(): Promise<string> {
    const { metadata } = await this.admin.resource(namespaces).create({ metadata: { generateName: "contract-" } });
    const { name = "" } = metadata;
    const account = { metadata: { namespace: name, name: "default" } };
    // A controller may create it first.
    await this.admin
      .resource(serviceAccounts)
      .create(account)
      .catch((error: unknown) => {
        if (!(error instanceof AlreadyExists)) throw error;
      });
    return name;
  }

  /** A ConfigMap in the namespace. */
  configMap(namespace: string, name: string, data: Record<string, string> = {}, labels = {}): Promise<ConfigMap> {
    return this.configMaps.create({ metadata: { namespace, name, labels }, data });
  }
}

/** Expects a call to end with a refusal; resolves with it. */
export async function refused(call: Promise<unknown>, Class: { readonly entry: { code: string } }): Promise<Refusal> {
  const outcome: unknown = await call.then(
    () => "no error",
    (error: unknown) => error,
  );
  const { code, message } = outcome as CodedError;
  expect({ code, message }).toEqual({ code: Class.entry.code, message: expect.stringMatching(/^[^\n]+$/) });
  return outcome as Refusal;
}

/** Whether an object is gone. */
export async function isGone(resource: Resource<KubeObject>, object: ObjectName): Promise<boolean> {
  const { items } = await resource.list({ namespace: object.namespace, fieldSelector: `metadata.name=${object.name}` });
  return items.length === 0;
}

/** The name of an object. */
export function nameOf({ metadata: { namespace, name = "" } }: KubeObject): ObjectName {
  return { namespace, name };
}

/** Reads a watch event by event. */
export class WatchReader<T extends KubeObject> implements AsyncDisposable {
  readonly #end = new AbortController();
  readonly #events: AsyncIterator<WatchEvent<T>>;

  constructor(resource: Resource<T>, options: Omit<WatchOptions, "signal">) {
    this.#events = resource.watch({ ...options, signal: this.#end.signal })[Symbol.asyncIterator]();
  }

  /** The next event; undefined at the end of the watch. */
  async next(): Promise<WatchEvent<T> | undefined> {
    const result = await this.#events.next();
    return result.done === true ? undefined : result.value;
  }

  /** `ADDED a`, `BOOKMARK` and so on, of the next events. */
  async take(count: number): Promise<string[]> {
    const shown: string[] = [];
    while (shown.length < count) shown.push(show(await this.next()));
    return shown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#events.return?.();
  }
}

function show<T extends KubeObject>(event: WatchEvent<T> | undefined): string {
  if (event === undefined) return "end";
  return event.type === "BOOKMARK" ? "BOOKMARK" : `${event.type} ${event.object.metadata.name ?? ""}`;
}
