import { constants, type Http2Stream } from "node:http2";
import { addAbortSignal } from "node:stream";
import { headerObject } from "./headers/header-object.ts";

/**
 * Resets an HTTP/2 stream, so that its other end does not treat a partial message as complete. Node's `close` ends the
 * data before it resets, which looks complete. The code `CANCEL` is kept; any other becomes `INTERNAL_ERROR`.
 */
export function resetStream(stream: Http2Stream, code: number): void {
  if (stream.destroyed) return;
  if (code === constants.NGHTTP2_CANCEL) addAbortSignal(AbortSignal.abort(), stream);
  else stream.destroy(new Error(`reset with code ${code}`));
}

/**
 * Ends a stream with trailers. Resets it if HTTP/2 cannot carry them, such as two values of a header that allows one.
 */
export function endWithTrailers(stream: Http2Stream, trailers: readonly string[]): void {
  try {
    stream.sendTrailers(headerObject(trailers));
  } catch {
    resetStream(stream, constants.NGHTTP2_INTERNAL_ERROR);
  }
}
