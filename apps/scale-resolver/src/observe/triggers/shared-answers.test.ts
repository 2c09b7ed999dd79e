import { describe, expect, test } from "@jest/globals";
import { parseAddress, type Query, type QueryOutcome } from "@evenkeel/prometheus";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { Server } from "./prometheus-trigger.ts";
import { SharedAnswers } from "./shared-answers.ts";

const never = new AbortController().signal;

/** Answers over a client that records its queries. */
function world() {
  const clock = new FakeClock();
  const asked: Query[] = [];
  const outcome: QueryOutcome = { kind: "samples", resultType: "scalar", samples: [], warnings: [], askedAt: 0 };
  const query = (one: Query) => {
    asked.push(one);
    return Promise.resolve(outcome);
  };
  return { clock, asked, answers: new SharedAnswers({ client: { query }, clock, life: 15_000 }) };
}

function serverOf(headers: Readonly<Record<string, string>> = {}): Server {
  const address = parseAddress("http://prometheus:9090");
  if (!address) throw new Error("it is no address");
  return { address, headers };
}

describe("shared answers", () => {
  test("are removed at the end of their lifetime", async () => {
    const { clock, asked, answers } = world();
    for (const query of ["a", "b", "c"]) await answers.ask(serverOf(), query, never);
    expect(answers.kept).toBe(3);
    await clock.advance(15_000);
    await answers.ask(serverOf(), "a", never);
    expect(answers.kept).toBe(1);
    expect(asked.map(({ query }) => query)).toEqual(["a", "b", "c", "a"]);
  });

  test("are at most 20,000, and the oldest are removed first", async () => {
    const { asked, answers } = world();
    for (let index = 0; index < 20_010; index += 1) await answers.ask(serverOf(), `query_${index}`, never);
    expect(answers.kept).toBe(20_000);
    await answers.ask(serverOf(), "query_10", never);
    expect(asked).toHaveLength(20_010);
    await answers.ask(serverOf(), "query_9", never);
    expect(asked).toHaveLength(20_011);
  });

  test("do not depend on the order of headers", async () => {
    const { asked, answers } = world();
    await answers.ask(serverOf({ "x-a": "1", "x-b": "2" }), "load", never);
    await answers.ask(serverOf({ "x-b": "2", "x-a": "1" }), "load", never);
    expect(asked).toHaveLength(1);
    await answers.ask(serverOf({ "x-a": "2", "x-b": "1" }), "load", never);
    expect(asked).toHaveLength(2);
  });

  test("have every value of a header masked, with and without its scheme", async () => {
    const { asked, answers } = world();
    await answers.ask(serverOf({ authorization: "Bearer abc", "x-scope": "tenant" }), "load", never);
    expect(asked[0]).toMatchObject({ secrets: ["Bearer abc", "abc", "tenant"], timeout: 5000 });
  });
});
