import type { ServerResponse } from "node:http";
import type { Clock } from "@evenkeel/runtime";
import type { StoredObject } from "../object.ts";
import { type ApiFault, expired } from "../status.ts";
import type { Change } from "../storage/store.ts";
import type { Table, TableWatcher } from "../storage/table.ts";
import { apiVersionOf, type ResourceType } from "../types/resource-type.ts";
import type { Selection } from "./selection.ts";
import type { WatchOptions } from "./watch-options.ts";

/** How much a watcher may leave unread, in bytes, before it is cut off as too slow. */
const BACKLOG = 64 * 1024 * 1024;

/** Milliseconds between bookmarks, and before the end of a watch at which one is sent. */
const BOOKMARK_EVERY = 60_000;
const BOOKMARK_BEFORE_END = 2000;

/** The least that a watch without a time of its own lasts, in seconds; at most it lasts twice that. */
const LASTS = 1800;

export interface WatchParts {
  readonly type: ResourceType;
  readonly table: Table;
  readonly selection: Selection;
  readonly clock: Clock;
  readonly random: () => number;
  /** How an object is shown: as it is, or as a table of one row. */
  readonly show: (object: StoredObject) => string;
  /** The store's version now. */
  readonly version: () => number;
}

/** One watch: from its first event to its end, which comes with its time, its reader, its type or its server. */
export class Watch implements TableWatcher {
  readonly #response: ServerResponse;
  readonly #parts: WatchParts;
  readonly #options: WatchOptions;
  readonly #cancels: (() => void)[] = [];
  #cancelBookmark: (() => void) | undefined;
  /** The version up to which the reader knows everything. */
  #told = 0;

  constructor(response: ServerResponse, parts: WatchParts, options: WatchOptions) {
    this.#response = response;
    this.#parts = parts;
    this.#options = options;
  }

  /** Begins to tell. Nothing can happen in between: what is there and what comes later join without a gap. */
  start(): void {
    const { table, clock, random } = this.#parts;
    this.#response.writeHead(200, { "content-type": "application/json" });
    this.#response.flushHeaders();
    this.#response.on("close", () => this.#release());
    if (!this.#tellPast()) return;
    this.#cancels.push(table.watch(this));
    const lasts = (this.#options.timeout ?? LASTS * (1 + random())) * 1000;
    this.#cancels.push(clock.schedule(lasts, () => this.end()));
    if (!this.#options.bookmarks) return;
    this.#cancels.push(clock.schedule(Math.max(0, lasts - BOOKMARK_BEFORE_END), () => this.#bookmark()));
    this.#bookmarkRegularly();
  }

  changed(change: Change): void {
    const { object, previous, type, version } = change;
    const { selection } = this.#parts;
    const was = previous !== undefined && selection(previous);
    const is = type !== "DELETED" && selection(object);
    if (is) this.#send(was ? "MODIFIED" : "ADDED", object);
    else if (was && type === "DELETED") this.#send("DELETED", object);
    else if (was)
      this.#send("DELETED", { ...previous, metadata: { ...previous.metadata, resourceVersion: String(version) } });
  }

  closed(): void {
    this.end();
  }

  end(): void {
    this.#release();
    this.#response.end();
  }

  #tellPast(): boolean {
    const { table, selection, version } = this.#parts;
    const { after, initialEnd } = this.#options;
    if (after === undefined) {
      for (const object of table.objects()) if (selection(object)) this.#send("ADDED", object);
      this.#told = version();
      if (initialEnd) this.#bookmark({ "k8s.io/initial-events-end": "true" });
      return true;
    }
    const changes = table.changesAfter(after);
    if (changes === undefined) {
      this.#fail(expired(`too old resource version: ${after} (${version()})`));
      return false;
    }
    this.#told = after;
    for (const change of changes) this.changed(change);
    return true;
  }

  /** Sends bookmarks at intervals for as long as the watch lasts. */
  #bookmarkRegularly(): void {
    this.#cancelBookmark = this.#parts.clock.schedule(BOOKMARK_EVERY, () => {
      this.#bookmark();
      this.#bookmarkRegularly();
    });
  }

  /** Tells the version up to which the reader has seen everything, unless it knows. */
  #bookmark(annotations?: Readonly<Record<string, string>>): void {
    const { type, version } = this.#parts;
    const now = version();
    if (annotations === undefined && now <= this.#told) return;
    this.#told = now;
    const metadata = { resourceVersion: String(now), ...(annotations === undefined ? {} : { annotations }) };
    this.#write("BOOKMARK", JSON.stringify({ apiVersion: apiVersionOf(type), kind: type.kind, metadata }));
  }

  #send(type: string, object: StoredObject): void {
    this.#write(type, this.#parts.show(object));
  }

  #fail(fault: ApiFault): void {
    this.#write("ERROR", JSON.stringify(fault.toStatus()));
    this.end();
  }

  #write(type: string, object: string): void {
    this.#response.write(`{"type":"${type}","object":${object}}\n`);
    if (this.#response.writableLength > BACKLOG) this.#response.destroy();
  }

  #release(): void {
    for (const cancel of this.#cancels.splice(0)) cancel();
    this.#cancelBookmark?.();
  }
}
