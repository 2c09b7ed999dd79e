import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { CodedError } from "@evenkeel/runtime";
import type { Refusal } from "../destination.ts";
import type { Engine } from "../engine.ts";
import { isAnswering } from "./pipelining.ts";
import { refusalOf } from "./verdict.ts";

/**
 * Responds on a connection with requests that can no longer be parsed, and ends it. If another response is being
 * written, that response is cut.
 */
export function refuseRaw(engine: Engine, socket: Duplex, status: number, error: CodedError): void {
  if (isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const refusal = engine.word(refusalOf(status, error), undefined);
  const { body = "" } = refusal;
  let text = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}\r\nconnection: close\r\n`;
  const headers = refusalHeaders(refusal);
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  socket.on("error", () => undefined);
  socket.end(`${text}\r\n${body}`, () => socket.destroy());
}

/** The headers of a refusal, with those of its body. Alternating names and values. */
export function refusalHeaders({ code, headers = [], body = "" }: Refusal): string[] {
  const list = [...headers];
  if (code !== undefined) list.push("evenkeel-error", code);
  if (!headers.includes("content-type")) list.push("content-type", "text/plain; charset=utf-8");
  list.push("content-length", String(Buffer.byteLength(body)));
  return list;
}
