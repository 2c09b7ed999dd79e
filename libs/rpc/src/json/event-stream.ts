import { type Clock, sleep } from "@evenkeel/runtime";

/** How often a stream says that it lives, in milliseconds: proxies cut connections that are silent for a minute. */
export const HEARTBEAT = 15_000;

/** The text of a server-sent event. JSON has no line breaks of its own. */
function eventText(name: string | undefined, data: unknown): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/**
 * The text of an event stream: an event for each item, a comment whenever nothing came for a heartbeat, and in the end
 * `end`, or `error` with what `failure` makes of it. Items are asked for one at a time, so that a slow reader slows the
 * source.
 */
export async function* eventStream<T>(
  items: AsyncIterable<T>,
  clock: Clock,
  failure: (error: unknown) => unknown,
): AsyncGenerator<string> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    // Sent at once, so that the reader knows that it is connected before the first event.
    yield ": open\n\n";
    for (let next = iterator.next(); ;) {
      const result = await orHeartbeat(next, clock);
      if (result === undefined) {
        yield ": alive\n\n";
        continue;
      }
      if (result.done) break;
      yield eventText(undefined, result.value);
      next = iterator.next();
    }
    yield eventText("end", {});
  } catch (error) {
    yield eventText("error", failure(error));
  } finally {
    await iterator.return?.();
  }
}

/** The result of `work`, or nothing after a heartbeat. */
async function orHeartbeat<T>(work: Promise<T>, clock: Clock): Promise<T | undefined> {
  const settled = new AbortController();
  const silence = sleep(clock, HEARTBEAT, settled.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, silence]);
  } finally {
    settled.abort();
  }
}
