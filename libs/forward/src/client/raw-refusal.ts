import type { Duplex } from "node:stream";
import type { CodedError } from "@evenkeel/runtime";
import { isAnswering } from "./pipelining.ts";

/** The text of an error for a client. */
export function textOf(error: CodedError): string {
  return `${error.code}: ${error.message}\n`;
}

const phrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  501: "Not Implemented",
};

/**
 * Responds on a connection with requests that can no longer be parsed, and ends it. If another response is being
 * written, that response is cut.
 */
export function refuseRaw(socket: Duplex, status: number, error: CodedError): void {
  if (isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const body = textOf(error);
  socket.on("error", () => undefined);
  socket.end(
    `HTTP/1.1 ${status} ${phrases[status] ?? ""}\r\nconnection: close\r\nevenkeel-error: ${error.code}\r\n` +
      `content-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
