import { constants, type Http2Stream } from "node:http2";
import { addAbortSignal } from "node:stream";
import { headerObject } from "./headers/header-object.ts";

/**
 * Breaks a stream of HTTP/2 off, so that its other end cannot take a part for the whole. Node's `close` does not: it ends what is
 * written before it resets, and what has ended is complete. Of the codes, `CANCEL` is kept; any other becomes `INTERNAL_ERROR`.
 */
export function resetStream(stream: Http2Stream, code: number): void {
  if (stream.destroyed) return;
  if (code === constants.NGHTTP2_CANCEL) addAbortSignal(AbortSignal.abort(), stream);
  else stream.destroy(new Error(`reset with code ${code}`));
}

/** Ends a stream with trailers; with a reset if they are such as HTTP/2 cannot carry, like two of a kind of which there is one. */
export function endWithTrailers(stream: Http2Stream, trailers: readonly string[]): void {
  try {
    stream.sendTrailers(headerObject(trailers));
  } catch {
    resetStream(stream, constants.NGHTTP2_INTERNAL_ERROR);
  }
}
