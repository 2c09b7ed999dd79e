import { Gone, ResourceVersionTooLarge } from "../errors.ts";
import type { KubeObject } from "../objects/object.ts";
import type { Resource, Selection } from "../objects/resource.ts";
import type { StoreDraft } from "./store-draft.ts";
import type { TimeSlice } from "./time-slice.ts";

export interface ListPagerOptions<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly selection: Selection;
  readonly signal: AbortSignal;
  /** Objects a page. */
  readonly pageSize: number;
  readonly slice: TimeSlice;
  /**
   * The list may not be older: a version that was seen, `"0"` for whatever the server has at hand, `""` for the newest.
   */
  readonly notOlderThan: string;
  /** A new draft for each try. */
  readonly draft: () => StoreDraft<T>;
}

export interface Listing<T extends KubeObject> {
  readonly draft: StoreDraft<T>;
  /** A watch from here misses nothing. */
  readonly resourceVersion: string;
}

/** A limit that is none. */
const EVERYTHING = 0;

/**
 * Lists everything, page by page, into a draft. The server's cache is asked first; if it has forgotten the version or
 * not seen it yet, its storage is; and if pages expire faster than they can be read, everything at once.
 */
export async function listAll<T extends KubeObject>(options: ListPagerOptions<T>): Promise<Listing<T>> {
  const { notOlderThan, pageSize } = options;
  if (notOlderThan !== "") {
    try {
      return await listOnce(options, notOlderThan, pageSize);
    } catch (error) {
      if (!isVersionRefused(error)) throw error;
    }
  }
  try {
    return await listOnce(options, "", pageSize);
  } catch (error) {
    if (!isVersionRefused(error)) throw error;
    return await listOnce(options, "", EVERYTHING);
  }
}

/** The server cannot serve this version, or the pages that begin with it; another one may do. */
export function isVersionRefused(error: unknown): boolean {
  return error instanceof Gone || error instanceof ResourceVersionTooLarge;
}

async function listOnce<T extends KubeObject>(
  { resource, selection, signal, slice, draft: newDraft }: ListPagerOptions<T>,
  notOlderThan: string,
  limit: number,
): Promise<Listing<T>> {
  const draft = newDraft();
  let resourceVersion: string | undefined;
  // Without the match, a version together with a limit would mean that version exactly, which the server may have
  // compacted.
  const version =
    notOlderThan === "" ? {} : { resourceVersion: notOlderThan, resourceVersionMatch: "NotOlderThan" as const };
  for await (const page of resource.pages({ ...selection, ...version, limit, signal })) {
    for (const object of page.items) {
      draft.put(object);
      if (slice.spent) await slice.rest();
    }
    // All pages show the state at the first one's version; a server that breaks this is watched from the earliest.
    resourceVersion ??= page.resourceVersion;
    signal.throwIfAborted();
  }
  return { draft, resourceVersion: resourceVersion ?? "" };
}
