import { type IncomingMessage, METHODS } from "node:http";
import type { CodedError } from "@evenkeel/runtime";
import { BadRequest, NotForwarded } from "../errors.ts";

/** The parts of an HTTP/1.1 request's head that must be unambiguous before it is forwarded. */
export interface RequestShape {
  readonly path: string;
  readonly host: string;
  readonly hasBody: boolean;
  /** -1 if the body is chunked. */
  readonly bodyLength: number;
}

/** Why a request is refused because of its head. */
export class ShapeFault {
  readonly status: number;
  readonly error: CodedError;

  constructor(status: number, error: CodedError) {
    this.status = status;
    this.error = error;
  }
}

/**
 * Parses the shape of a request. Node's parser has refused most requests that two servers could interpret differently
 * (both or several lengths, folded lines, bare line feeds). This refuses the others.
 */
export function shapeOf(request: IncomingMessage): RequestShape | ShapeFault {
  const { rawHeaders, url = "" } = request;
  let host: string | undefined;
  let length = 0;
  let lengths = 0;
  let chunked = false;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    if (name.length === 4 && name.toLowerCase() === "host") {
      if (host !== undefined) return bad("several Host headers");
      host = value;
    } else if (name.length === 14 && name.toLowerCase() === "content-length") {
      lengths += 1;
      length = Number(value);
      if (lengths > 1 || !/^\d+$/.test(value) || !Number.isSafeInteger(length)) return bad("an unclear Content-Length");
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      if (chunked || value.toLowerCase() !== "chunked") {
        return new ShapeFault(501, new NotForwarded({ what: "a transfer coding other than chunked" }));
      }
      chunked = true;
    }
  }
  if (chunked && lengths > 0) return bad("both Content-Length and Transfer-Encoding");
  if (chunked && request.httpVersionMinor === 0) return bad("a chunked body in HTTP/1.0");
  if (host === undefined && request.httpVersionMinor > 0) return bad("no Host header");
  if (request.httpVersionMajor !== 1) return bad("an unknown version of HTTP");
  const target = targetOf(url, request.method ?? "", host ?? "");
  if (!target) return bad("an unclear target");
  return { path: target.path, host: target.host, hasBody: chunked || length > 0, bodyLength: chunked ? -1 : length };
}

function bad(fault: string): ShapeFault {
  return new ShapeFault(400, new BadRequest({ fault }));
}

/** A target with scheme and host has precedence over the Host header (RFC 9112, section 3.2.2). */
function targetOf(url: string, method: string, host: string): { path: string; host: string } | undefined {
  if (url.charCodeAt(0) === 47) return host === "" || isHost(host) ? { path: url, host } : undefined;
  if (url === "*") return method === "OPTIONS" ? { path: url, host } : undefined;
  const absolute = /^https?:\/\/([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i.exec(url);
  if (!absolute || !isHost(absolute[1] as string)) return undefined;
  const path = absolute[2] ?? "/";
  return { path: path.startsWith("/") ? path : `/${path}`, host: absolute[1] as string };
}

const methods = new Set(METHODS);

/** Whether an HTTP/1.1 parser knows the method of an HTTP/2 request. Many parsers refuse any other as invalid HTTP. */
export function isMethod(method: string): boolean {
  return methods.has(method);
}

/** Whether the path of an HTTP/2 request is valid in HTTP/1.1, which allows only visible ASCII. */
export function isPath(path: string, method: string): boolean {
  return path === "*" ? method === "OPTIONS" : /^\/[\x21-\x7e]*$/.test(path);
}

/** Whether it is a host with or without a port. A user name or a path in it would be ambiguous. */
export function isHost(host: string): boolean {
  return /^[\w.~!$&'()*+,;=%:[\]-]+$/.test(host);
}
