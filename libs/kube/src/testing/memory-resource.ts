import { AlreadyExists, Conflict, Gone, Invalid, NotFound } from "../errors.ts";
import { applyJsonPatch, applyMergePatch } from "./memory-patch.ts";
import type { KubeObject, ObjectMeta, ObjectName } from "../objects/object.ts";
import { keyOf, nameKey } from "../objects/object-key.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  Part,
  Patch,
  Resource,
  Scale,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../objects/resource.ts";

type Verb = "get" | "list" | "watch" | "create" | "replace" | "patch" | "apply" | "delete";

export interface Call {
  readonly verb: Verb;
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Objects of one type in memory, as a Resource, for the tests of this library. It keeps versions and a history as an
 * API server does, and a test can make its calls fail.
 */
export class MemoryResource<T extends KubeObject> implements Resource<T> {
  readonly objects = new Map<string, T>();
  readonly calls: Call[] = [];
  /** False for an API server that does not support `sendInitialEvents`. */
  streams = true;
  readonly #history: { readonly version: number; readonly event: WatchEvent<T> & { readonly object: T } }[] = [];
  readonly #watches = new Set<Watch<T>>();
  readonly #faults: { readonly verb: Verb; readonly fault: () => unknown }[] = [];
  #version = 1;
  #compacted = 0;

  get version(): string {
    return String(this.#version);
  }

  /** Watches that are open now. */
  get watching(): number {
    return this.#watches.size;
  }

  count(verb: Verb): number {
    return this.calls.filter((call) => call.verb === verb).length;
  }

  /** Makes the next call of this verb fail; a fault that returns a promise delays the call first. */
  failNext(verb: Verb, fault: () => unknown, times = 1): void {
    for (let time = 0; time < times; time++) this.#faults.push({ verb, fault });
  }

  /** Drops the history: a watch or a page from before now is Gone. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history.length = 0;
  }

  /** Ends the open watches: with an error, or as a server does after its time-out. */
  cut(error?: Error): void {
    for (const watch of this.#watches) watch.end(error);
  }

  /** Stops the open watches from receiving anything, as with half-open connections. */
  deafen(): void {
    for (const watch of this.#watches) watch.deaf = true;
  }

  bookmark(): void {
    for (const watch of this.#watches)
      watch.offer({ type: "BOOKMARK", resourceVersion: this.version, initialEventsEnd: false });
  }

  async get(object: ObjectName): Promise<T> {
    await this.#called("get", { ...object });
    return this.#present(nameKey(object));
  }

  async list(options: ListOptions = {}): Promise<ListPage<T>> {
    await this.#called("list", { ...options });
    const [at = this.version, after = ""] = options.continue?.split(" ") ?? [];
    if (Number(at) < this.#compacted) throw gone();
    const rest = [...this.objects.values()].filter((object) => keyOf(object) > after).sort(byKey);
    const items = rest.slice(0, options.limit === 0 ? undefined : options.limit);
    const last = items.at(-1);
    const more = items.length < rest.length && last ? { continue: `${at} ${keyOf(last)}` } : {};
    return { items: structuredClone(items), resourceVersion: at, ...more };
  }

  async *pages(options: ListOptions = {}): AsyncIterable<ListPage<T>> {
    let next = options.continue;
    do {
      const page = await this.list({ ...options, continue: next });
      yield page;
      next = page.continue;
    } while (next !== undefined);
  }

  async *watch(options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    await this.#called("watch", { ...options });
    if (options.sendInitialEvents && !this.streams) throw refusal(Invalid, 422, "sendInitialEvents is forbidden");
    const watch = new Watch<T>();
    if (options.sendInitialEvents) {
      for (const object of this.objects.values()) watch.offer({ type: "ADDED", object });
      watch.offer({ type: "BOOKMARK", resourceVersion: this.version, initialEventsEnd: true });
    } else {
      const from = Number(options.resourceVersion ?? this.version);
      if (from < this.#compacted) throw gone();
      for (const { version, event } of this.#history) if (version > from) watch.offer(event);
    }
    this.#watches.add(watch);
    const end = () => watch.end();
    options.signal.addEventListener("abort", end, { once: true });
    if (options.signal.aborted) end();
    try {
      yield* watch.events();
    } finally {
      options.signal.removeEventListener("abort", end);
      this.#watches.delete(watch);
    }
  }

  async create(object: T): Promise<T> {
    await this.#called("create", { object });
    if (this.objects.has(keyOf(object))) throw refusal(AlreadyExists, 409, "it exists");
    return this.#write("ADDED", object, { uid: `uid-${this.#version + 1}`, generation: 1 });
  }

  async replace(object: T): Promise<T> {
    await this.#called("replace", { object });
    const present = this.#present(keyOf(object));
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== present.metadata.resourceVersion) {
      throw refusal(Conflict, 409, "it was modified");
    }
    return this.#write("MODIFIED", object, { ...(present.metadata.uid ? { uid: present.metadata.uid } : {}) });
  }

  async patch(object: ObjectName, patch: Patch, options: WriteOptions = {}): Promise<T> {
    await this.#called("patch", { object, patch, ...options });
    options.signal?.throwIfAborted();
    const present = this.#present(nameKey(object));
    if (patch.type !== "json") {
      const merged = applyMergePatch(present, patch.body) as T;
      if (merged.metadata.resourceVersion !== present.metadata.resourceVersion) {
        throw refusal(Conflict, 409, "it was modified");
      }
      return this.#write("MODIFIED", merged, {});
    }
    const patched = applyJsonPatch(present, patch.operations);
    if (patched === undefined) throw refusal(Invalid, 422, "a test failed");
    return this.#write("MODIFIED", patched as T, {});
  }

  async apply(object: T, options: ApplyOptions): Promise<T> {
    await this.#called("apply", { object, ...options });
    const present = this.objects.get(keyOf(object));
    if (!present) return this.#write("ADDED", object, { uid: `uid-${this.#version + 1}` });
    return this.#write("MODIFIED", applyMergePatch(present, object) as T, {});
  }

  async delete(object: ObjectName, options: DeleteOptions = {}): Promise<T | undefined> {
    await this.#called("delete", { object, ...options });
    this.take(nameKey(object));
    return undefined;
  }

  /** Writes an object, as another client. */
  put(object: T): T {
    const known = this.objects.get(keyOf(object));
    const uid = known?.metadata.uid ?? object.metadata.uid ?? `uid-${this.#version + 1}`;
    return this.#write(known ? "MODIFIED" : "ADDED", object, { uid });
  }

  /** Deletes an object, as another client. */
  take(key: string): void {
    const present = this.#present(key);
    this.objects.delete(key);
    this.#version += 1;
    this.#happened("DELETED", withMeta(present, { resourceVersion: this.version }));
  }

  get status(): Part<T> {
    return this;
  }

  get scale(): Part<Scale> {
    throw new Error("there is no scale here");
  }

  async #called(verb: Verb, options: Readonly<Record<string, unknown>>): Promise<void> {
    this.calls.push({ verb, options });
    const index = this.#faults.findIndex((fault) => fault.verb === verb);
    const [found] = index < 0 ? [] : this.#faults.splice(index, 1);
    const error = await found?.fault();
    if (error instanceof Error) throw error;
  }

  #present(key: string): T {
    const object = this.objects.get(key);
    if (!object) throw refusal(NotFound, 404, key);
    return object;
  }

  #write(type: "ADDED" | "MODIFIED", object: T, meta: ObjectMeta): T {
    this.#version += 1;
    const written = withMeta(structuredClone(object), { ...meta, resourceVersion: this.version });
    this.objects.set(keyOf(written), written);
    this.#happened(type, written);
    return structuredClone(written);
  }

  #happened(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void {
    const event = { type, object };
    this.#history.push({ version: this.#version, event });
    for (const watch of this.#watches) watch.offer(event);
  }
}

class Watch<T> {
  deaf = false;
  readonly #waiting: WatchEvent<T>[] = [];
  #wake: () => void = () => undefined;
  #end: { readonly error: Error | undefined } | undefined;

  offer(event: WatchEvent<T>): void {
    if (!this.deaf && !this.#end) this.#waiting.push(structuredClone(event));
    this.#wake();
  }

  end(error?: Error): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *events(): AsyncIterable<WatchEvent<T>> {
    for (;;) {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) yield next;
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

type RefusalKind = new (
  fields: { readonly call: string; readonly message: string },
  details: {
    readonly status: number;
    readonly reason: string;
    readonly causes: readonly never[];
    readonly retryAfter?: number;
  },
) => Error;

/** A refusal of an API server. */
export function refusal(kind: RefusalKind, status: number, message: string, retryAfter?: number): Error {
  const asked = retryAfter === undefined ? {} : { retryAfter };
  return new kind({ call: "test", message }, { status, reason: "", causes: [], ...asked });
}

export function gone(): Error {
  return refusal(Gone, 410, "too old resource version");
}

function withMeta<T extends KubeObject>(object: T, meta: ObjectMeta): T {
  return { ...object, metadata: { ...object.metadata, ...meta } };
}

function byKey(a: KubeObject, b: KubeObject): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
