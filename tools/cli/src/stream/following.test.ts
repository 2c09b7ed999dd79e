import type { Decision } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { Refused, Unanswered } from "../errors.ts";
import { decisionOf } from "../wire.ts";
import { followDecisions } from "./following.ts";
import type { ServerSentEvent } from "./server-sent-events.ts";

function decided(number: number): Decision {
  return {
    id: `d${number}`,
    at: new Date(number * 1000).toISOString(),
    object: { kind: "Tank", name: "fore" },
    ...{ action: "hold", reason: "Calm", before: number, after: number, message: "", dryRun: false },
  };
}

const told = (number: number): ServerSentEvent => ({
  event: "message",
  data: JSON.stringify({ decision: decided(number) }),
});
const end: ServerSentEvent = { event: "end", data: "{}" };

/** What one opening of the stream gives: events, and then its end; or a failure to open. */
type Opening = readonly ServerSentEvent[] | Error;

/** Follows a feed that opens as told, until it has been opened that often. */
async function follow(openings: readonly Opening[]) {
  const clock = new FakeClock();
  const begun = clock.monotonic();
  const ending = new AbortController();
  const asked: number[] = [];
  const times: number[] = [];
  const outages: string[] = [];
  const seen: string[] = [];
  let returns = 0;
  const feed = {
    place: "there",
    open: async (last: number): Promise<AsyncIterable<ServerSentEvent>> => {
      const opening = openings[asked.length];
      asked.push(last);
      times.push(clock.monotonic() - begun);
      if (opening === undefined) {
        ending.abort();
        throw new Error("the test is over");
      }
      await Promise.resolve();
      if (opening instanceof Error) throw opening;
      return events(opening);
    },
    decisionOf: (value: unknown) => {
      const decision = decisionOf(value);
      if (decision === undefined) throw new Error("it is none");
      return decision;
    },
  };
  const onOutage = (error: unknown, wait: number) => outages.push(`${(error as Error).message} ${wait}`);
  const options = { clock, random: () => 0.5, signal: ending.signal, onOutage, onReturn: () => (returns += 1) };
  let failure: unknown;
  const following = (async () => {
    try {
      for await (const { id } of followDecisions({ feed, last: 2, ...options })) seen.push(id);
    } catch (error) {
      failure = error;
    }
  })();
  // Waits are moments of the fake clock, and all of them together are less than this.
  await clock.advance(60_000);
  await following;
  return { asked, times, outages, seen, failure, returns };
}

async function* events(list: readonly ServerSentEvent[]): AsyncGenerator<ServerSentEvent> {
  for (const event of list) {
    await Promise.resolve();
    yield event;
  }
}

describe("following decisions", () => {
  test("gives them in their order, and after a gap what was missed and nothing twice", async () => {
    const { seen, asked, failure, returns } = await follow([
      [told(5), told(6), told(7), end],
      [told(3), told(4), told(5), told(6), told(7), told(8), told(9)],
      [told(9), told(10)],
    ]);
    expect(failure).toBeUndefined();
    expect(seen).toEqual(["d5", "d6", "d7", "d8", "d9", "d10"]);
    expect(asked).toEqual([2, 1000, 1000, 1000]);
    expect(returns).toBe(2);
  });

  test("takes a decision whose look at the world is older than the last one's", async () => {
    const { seen } = await follow([[told(5), told(7), told(6)]]);
    expect(seen).toEqual(["d5", "d7", "d6"]);
  });

  test("tells all that a service knows which has lost its past", async () => {
    const { seen } = await follow([[told(5)], [told(20), told(21)]]);
    expect(seen).toEqual(["d5", "d20", "d21"]);
  });

  test("waits longer after each failure, says so once, and begins anew when it was open", async () => {
    const away = new Unanswered({ place: "there", fault: "refused" });
    const { outages, seen, times } = await follow([[told(1)], away, away, away, [told(1), told(2)], away, [told(3)]]);
    expect(outages).toEqual([
      "the stream of there ended: the connection was closed 250",
      "the stream of there ended: the connection was closed 250",
      "the stream of there ended: the connection was closed 250",
    ]);
    expect(seen).toEqual(["d1", "d2", "d3"]);
    expect(times).toEqual([0, 250, 750, 1750, 3750, 4000, 4500, 4750]);
  });

  test("goes on after the service said that its reader was too slow", async () => {
    const data = JSON.stringify({ code: "EK_RUNTIME_WATCHER_TOO_SLOW", message: "fell behind" });
    const { seen, outages } = await follow([
      [told(1), { event: "error", data }],
      [told(1), told(2)],
    ]);
    expect(seen).toEqual(["d1", "d2"]);
    expect(outages[0]).toContain("EK_RUNTIME_WATCHER_TOO_SLOW");
  });

  test.each([
    ["429", 429, undefined],
    ["503", 503, undefined],
    ["400", 400, "EK_CLI_REFUSED"],
    ["404", 404, "EK_CLI_REFUSED"],
  ])("after a refusal with %s ends only if it is for good", async (_name, status, code) => {
    const refused = new Refused({ place: "there", message: "no", code: "X" }, status);
    const { failure, seen } = await follow([[told(1)], refused, [told(2)]]);
    expect((failure as { code?: string } | undefined)?.code).toBe(code);
    expect(seen).toEqual(code === undefined ? ["d1", "d2"] : ["d1"]);
  });
});
