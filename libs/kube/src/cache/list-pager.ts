import { Gone, ResourceVersionTooLarge } from "../errors.ts";
import type { KubeObject } from "../objects/object.ts";
import type { Resource, Selection } from "../objects/resource.ts";
import type { StoreDraft } from "./store-draft.ts";
import type { TimeSlice } from "./time-slice.ts";

export interface ListPagerOptions<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly selection: Selection;
  readonly signal: AbortSignal;
  /** Objects per page. */
  readonly pageSize: number;
  readonly slice: TimeSlice;
  /**
   * The list may not be older than this: a version, `"0"` for whatever the server's cache has, `""` for the newest.
   */
  readonly notOlderThan: string;
  /** A new draft for each attempt. */
  readonly draft: () => StoreDraft<T>;
}

export interface Listing<T extends KubeObject> {
  readonly draft: StoreDraft<T>;
  /** A watch from this version misses nothing. */
  readonly resourceVersion: string;
}

/** No limit. */
const EVERYTHING = 0;

/**
 * Lists everything, page by page, into a draft: first from the server's cache; if that does not have the version, from
 * its storage; and if pages expire faster than they can be read, in one page.
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

/** Whether another version may work: the server cannot serve this one, or no longer has its next pages. */
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
  // Without the match, a version with a limit would mean exactly that version, which the server may have compacted.
  const version =
    notOlderThan === "" ? {} : { resourceVersion: notOlderThan, resourceVersionMatch: "NotOlderThan" as const };
  for await (const page of resource.pages({ ...selection, ...version, limit, signal })) {
    for (const object of page.items) {
      draft.put(object);
      if (slice.spent) await slice.rest();
    }
    // All pages should have the first page's version; if they do not, the watch starts at the earliest.
    resourceVersion ??= page.resourceVersion;
    signal.throwIfAborted();
  }
  return { draft, resourceVersion: resourceVersion ?? "" };
}
