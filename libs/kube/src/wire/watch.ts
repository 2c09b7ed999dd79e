import type { Readable } from "node:stream";
import type { Clock } from "@evenkeel/runtime";
import { connectionFault } from "./connection-fault.ts";
import { WatchSilent } from "../errors.ts";
import type { Exchange } from "./exchange.ts";
import type { KubeObject } from "../objects/object.ts";
import type { KubeRequest } from "./request.ts";
import type { WatchEvent, WatchOptions } from "../objects/resource.ts";
import { lines, parseWatchEvent } from "./watch-stream.ts";

/**
 * Opens a watch and yields its events; see `Resource.watch` for how it ends. Ending the iteration closes the
 * connection.
 */
export async function* watchEvents<T extends KubeObject>(
  exchange: Exchange,
  request: KubeRequest,
  { signal, silence }: Pick<WatchOptions, "signal" | "silence">,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const ended = (): boolean => signal.aborted;
  if (ended()) return;
  let body: Readable | undefined;
  try {
    const stream = await exchange.stream({ ...request, signal });
    body = stream.body;
    const chunks = chunksOf(stream.call, body, exchange.clock, silence);
    for await (const line of lines(stream.call, chunks)) {
      yield parseWatchEvent<T>(stream.call, line);
      if (ended()) return;
    }
  } catch (error) {
    if (!ended()) throw error;
  } finally {
    // Also when the reader stops: a watch without a reader must not stay open.
    body?.on("error", () => undefined).destroy();
  }
}

/** The body's chunks. The time of silence counts only while a chunk is awaited: a slow reader is not a dead server. */
async function* chunksOf(
  call: string,
  body: Readable,
  clock: Clock,
  silence: number | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  for (;;) {
    const silent = (milliseconds: number) => body.destroy(new WatchSilent({ call, milliseconds }));
    const cancel = silence === undefined ? undefined : clock.schedule(silence, () => silent(silence));
    let next: IteratorResult<Uint8Array>;
    try {
      next = await iterator.next();
    } catch (thrown) {
      throw connectionFault(call, thrown, true);
    } finally {
      cancel?.();
    }
    if (next.done === true) return;
    yield next.value;
  }
}
