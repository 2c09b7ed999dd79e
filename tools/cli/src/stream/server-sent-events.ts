import type { Readable } from "node:stream";
import { type Clock, explain } from "@evenkeel/runtime";
import { StreamCut } from "../errors.ts";

/** One event. Without a name it is a `message`. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * The events of a stream, parsed as in https://html.spec.whatwg.org/multipage/server-sent-events.html: any of the three
 * line ends, comments and unknown fields ignored, several `data` lines joined. A last event without its blank line is
 * dropped, because it may be incomplete.
 */
export async function* serverSentEvents(
  chunks: AsyncIterable<string>,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let event = "";
  let data: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { event: event || "message", data: data.join("\n") };
      event = "";
      data = [];
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = "";
  let first = true;
  for await (const chunk of chunks) {
    rest += first && chunk.startsWith("\uFEFF") ? chunk.slice(1) : chunk;
    first = false;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

export interface AwakeOptions {
  readonly clock: Clock;
  /** Milliseconds without a byte after which the connection counts as half-open. */
  readonly silence: number;
  /** The name of the other side in messages. */
  readonly place: string;
}

/**
 * The text of a body as it arrives. Fails when the body breaks or is silent for too long. Ending the iteration closes
 * the body.
 */
export async function* liveText(
  body: Readable,
  { clock, silence, place }: AwakeOptions,
): AsyncGenerator<string, void, undefined> {
  const silent = new StreamCut({ place, fault: `no data for ${silence} ms` });
  const watch = (): (() => void) => clock.schedule(silence, () => body.destroy(silent));
  let cancel = watch();
  try {
    for await (const chunk of body.setEncoding("utf8")) {
      cancel();
      yield chunk as string;
      cancel = watch();
    }
  } catch (cause) {
    throw cause === silent ? silent : new StreamCut({ place, fault: explain(cause) });
  } finally {
    cancel();
    body.destroy();
  }
}
