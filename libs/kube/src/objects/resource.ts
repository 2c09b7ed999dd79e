import type { KubeObject, ObjectName } from "./object.ts";

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that the whole call may take, retries included; default the client's. Watches have no deadline. */
  readonly deadline?: number;
  /**
   * Called right before each attempt, so after every wait. If it throws, nothing more is sent, and the call rejects
   * with what it threw.
   */
  readonly beforeSend?: (() => void) | undefined;
}

export interface Selection {
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  /** Objects per page; the server may return fewer or more. */
  readonly limit?: number;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
}

export interface ListPage<T> {
  /** With apiVersion and kind, which the server omits in lists. */
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** The token of the next page; absent on the last page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchOptions extends Selection {
  readonly signal: AbortSignal;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: "NotOlderThan" | undefined;
  /**
   * Starts with the present state as ADDED events, up to a bookmark with the annotation `k8s.io/initial-events-end`.
   */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  /** Seconds after which the server ends the watch. */
  readonly timeoutSeconds?: number;
  /** Milliseconds without data after which the connection is considered dead and the watch fails. */
  readonly silence?: number;
}

export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

export interface DeleteOptions extends CallOptions {
  /** The delete fails with Conflict if these do not hold. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** `strategic` is for built-in types only; custom resources refuse it with 415. */
export type Patch =
  | { readonly type: "json"; readonly operations: readonly JsonPatchOperation[] }
  | { readonly type: "merge"; readonly body: unknown }
  | { readonly type: "strategic"; readonly body: unknown };

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes the ownership of fields from other managers. Controllers do; people should not. */
  readonly force?: boolean;
}

/** One type of object on one API server. Every failure is a coded error (see errors.ts). */
export interface Resource<T extends KubeObject> {
  get(object: ObjectName, options?: CallOptions): Promise<T>;
  /** One page. */
  list(options?: ListOptions): Promise<ListPage<T>>;
  /** One page after the other, each requested when it is read. An expired continue token ends it with Gone. */
  pages(options?: ListOptions): AsyncIterable<ListPage<T>>;
  /**
   * Events until the server ends the watch or the signal aborts (the iteration ends), or something fails (it throws).
   * An ERROR event is thrown as the error that its Status names, so 410 is Gone either way. A reader that stops reading
   * stops the stream.
   */
  watch(options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create(object: T, options?: WriteOptions): Promise<T>;
  /** Writes the whole object. With metadata.resourceVersion it fails with Conflict if the object was written since. */
  replace(object: T, options?: WriteOptions): Promise<T>;
  patch(object: ObjectName, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply: states the fields that this manager wants. */
  apply(object: T, options: ApplyOptions): Promise<T>;
  /**
   * Resolves with the object if the server returns it: when finalizers or a grace period keep it, and for some types
   * always. Otherwise the object is gone, and it resolves with nothing.
   */
  delete(object: ObjectName, options?: DeleteOptions): Promise<T | undefined>;

  readonly status: Part<T>;
  readonly scale: Part<Scale>;
}

/** A subresource of each object. */
export interface Part<P extends KubeObject> {
  get(object: ObjectName, options?: CallOptions): Promise<P>;
  replace(value: P, options?: WriteOptions): Promise<P>;
  patch(object: ObjectName, patch: Patch, options?: WriteOptions): Promise<P>;
  apply(value: P, options: ApplyOptions): Promise<P>;
}

/** autoscaling/v1 */
export interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}
