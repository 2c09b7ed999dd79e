import { BadWatchEvent, ConnectionLost } from "../errors.ts";
import type { KubeObject } from "../objects/object.ts";
import type { WatchEvent } from "../objects/resource.ts";
import { isObject, oneLine, refusalOfStatus } from "./status.ts";

/** The longest event that is read, in bytes. etcd accepts objects of 1.5 MB; JSON and escapes add to that. */
const LINE_LIMIT = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Lines of a stream, each as soon as it is complete. Nothing is read ahead: the next chunk is read when the lines of
 * the last one are consumed. Fails for lines that are too long or not UTF-8, and for a stream that ends in the middle
 * of a line.
 */
export async function* lines(
  call: string,
  chunks: AsyncIterable<Uint8Array>,
  limit: number = LINE_LIMIT,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (line: Uint8Array): string => {
    try {
      return decoder.decode(line);
    } catch (cause) {
      throw new BadWatchEvent({ call, fault: "a line is not UTF-8" }, { cause });
    }
  };
  let parts: Uint8Array[] = [];
  let length = 0;
  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length > limit) throw new BadWatchEvent({ call, fault: `a line is longer than ${limit} bytes` });
    if (part.length > 0) parts.push(part);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      const line = decode(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
      parts = [];
      length = 0;
      start = end + 1;
      if (line.trim() !== "") yield line;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) throw new ConnectionLost({ call, fault: "the stream ended in the middle of an event" });
}

/** The event in a line. An ERROR event is thrown as the error that its Status names. */
export function parseWatchEvent<T extends KubeObject>(call: string, line: string): WatchEvent<T> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new BadWatchEvent({ call, fault: `a line is not JSON: ${oneLine(line.slice(0, 80))}` }, { cause });
  }
  const { type, object } = isObject(event) ? event : {};
  if (type === "ERROR") throw refusalOfStatus(call, object);
  const metadata: unknown = isObject(object) ? object["metadata"] : undefined;
  if (!isObject(metadata) || typeof metadata["resourceVersion"] !== "string") {
    throw new BadWatchEvent({ call, fault: `an event has no object: ${oneLine(line.slice(0, 80))}` });
  }
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: object as T };
    case "BOOKMARK": {
      const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
      const initialEventsEnd = annotations["k8s.io/initial-events-end"] === "true";
      return { type, resourceVersion: metadata["resourceVersion"], initialEventsEnd };
    }
    default:
      throw new BadWatchEvent({ call, fault: `an event is of type ${oneLine(String(type).slice(0, 40))}` });
  }
}
