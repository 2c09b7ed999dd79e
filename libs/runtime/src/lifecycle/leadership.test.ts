import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "../testing/fake-clock.ts";
import { LeaderLoops, type Leadership, type Loop, soleLeadership, type Term, termUntil } from "./leadership.ts";

const settle = () => new FakeClock().advance(0);
const untilAborted = ({ signal }: Pick<Term, "signal">) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

/** A leadership that a test gives and takes. It keeps the contract: one term at a time, each awaited, then given up. */
class FakeLeadership implements Leadership {
  readonly history: string[] = [];
  #lead: Loop = () => Promise.resolve();
  #term: { controller: AbortController; run: Promise<void> } | undefined;
  #tokens = 0n;
  readonly #over = Promise.withResolvers<undefined>();

  async campaign(signal: AbortSignal, lead: Loop): Promise<void> {
    this.#lead = lead;
    signal.addEventListener("abort", () => this.#over.resolve(undefined));
    await this.#over.promise;
    await this.lose();
    this.history.push("released");
  }

  win(): void {
    const controller = new AbortController();
    this.#tokens += 1n;
    this.history.push(`won ${this.#tokens}`);
    const run = this.#lead(termUntil(controller.signal, this.#tokens));
    run.catch((error: unknown) => this.#over.reject(error));
    this.#term = { controller, run };
  }

  async lose(): Promise<void> {
    this.#term?.controller.abort(new Error("the lease is lost"));
    await this.#term?.run;
    if (this.#term) this.history.push("term over");
    this.#term = undefined;
  }
}

function build(loops: Readonly<Record<string, Loop>>, leadership: Leadership = soleLeadership) {
  const leaders = new LeaderLoops();
  const deaths: unknown[] = [];
  leaders.leadership = leadership;
  for (const [name, loop] of Object.entries(loops)) leaders.add(name, loop);
  const start = () => leaders.start({ signal: new AbortController().signal, fail: (cause) => deaths.push(cause) });
  return { leaders, deaths, start };
}

test("a loop's term is over for it as soon as the leadership's is by the clock", async () => {
  let frozen = false;
  const loops = new LeaderLoops();
  const answers: boolean[] = [];
  loops.leadership = { campaign: (signal, lead) => lead(termUntil(signal, 1n, () => !frozen)) };
  loops.add("a", async ({ signal, held }) => {
    answers.push(held());
    frozen = true;
    answers.push(held(), signal.aborted);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  loops.start({ signal: new AbortController().signal, fail: () => undefined });
  await loops.stop();
  expect(answers).toEqual([true, false, false]);
});

describe("leader loops", () => {
  test("run from start to stop where there is nobody else", async () => {
    const events: string[] = [];
    const loop =
      (name: string): Loop =>
      async (term) => {
        events.push(`${name} begins with ${term.fencingToken}`);
        await untilAborted(term);
        events.push(`${name} ends`);
      };
    const { leaders, deaths, start } = build({ a: loop("a"), b: loop("b") });
    start();
    await settle();
    expect(events).toEqual(["a begins with 0", "b begins with 0"]);
    await leaders.stop();
    expect(events.slice(2)).toEqual(["a ends", "b ends"]);
    expect(deaths).toEqual([]);
  });

  test("do not campaign when there are none", async () => {
    let campaigned = false;
    const leadership = { campaign: () => Promise.resolve(void (campaigned = true)) };
    const { leaders, deaths, start } = build({}, leadership);
    start();
    await leaders.stop();
    expect([campaigned, deaths]).toEqual([false, []]);
  });

  test("stop without having started", async () => {
    await expect(build({ a: untilAborted }).leaders.stop()).resolves.toBeUndefined();
  });

  test("begin with each term and end before it does, each with the term's token", async () => {
    const events: string[] = [];
    const leadership = new FakeLeadership();
    const { leaders, deaths, start } = build(
      {
        a: async (term) => {
          events.push(`begins with ${term.fencingToken}`);
          await untilAborted(term);
          events.push(String(term.signal.reason));
        },
      },
      leadership,
    );
    start();
    await settle();
    expect(events).toEqual([]);
    leadership.win();
    await leadership.lose();
    leadership.win();
    await leaders.stop();
    expect(events).toEqual(["begins with 1", "Error: the lease is lost", "begins with 2", "Error: the lease is lost"]);
    expect(leadership.history).toEqual(["won 1", "term over", "won 2", "term over", "released"]);
    expect(deaths).toEqual([]);
  });

  test("have all ended when the end of a term is told, once for each term", async () => {
    const events: string[] = [];
    const leadership = new FakeLeadership();
    const loop =
      (name: string): Loop =>
      async (term) => {
        await untilAborted(term);
        events.push(`${name} ends`);
      };
    const { leaders, start } = build({ a: loop("a"), b: loop("b") }, leadership);
    leaders.afterTerm(() => events.push("told"));
    start();
    leadership.win();
    await leadership.lose();
    expect(events).toEqual(["a ends", "b ends", "told"]);
    leadership.win();
    await leaders.stop();
    expect(events.slice(3)).toEqual(["a ends", "b ends", "told"]);
  });

  test("that end in a term that is over already do so at once", async () => {
    const leadership: Leadership = {
      campaign: async (signal, lead) => {
        await lead(termUntil(AbortSignal.abort(new Error("too late")), 1n));
        await untilAborted({ signal });
      },
    };
    let seen: boolean | undefined;
    const { leaders, deaths, start } = build(
      {
        a: (term) => {
          seen = term.signal.aborted;
          return Promise.resolve();
        },
      },
      leadership,
    );
    start();
    await leaders.stop();
    expect([seen, deaths]).toEqual([true, []]);
  });
});

describe("the death of a leader loop", () => {
  test.each<[string, Loop, string]>([
    ["rejects", () => Promise.reject(new Error("a defect")), "a defect"],
    ["returns while its term goes on", () => Promise.resolve(), "it returned while its term went on"],
    [
      "throws before its first promise",
      () => {
        throw new Error("at once");
      },
      "at once",
    ],
  ])("is reported once, by name, when it %s", async (_name, loop, cause) => {
    const { deaths, start } = build({ rebalance: loop, other: untilAborted });
    start();
    await settle();
    expect(deaths).toEqual([
      expect.objectContaining({
        code: "EK_RUNTIME_COMPONENT_DIED",
        message: expect.stringContaining("rebalance") as unknown,
        cause: expect.objectContaining({ message: cause }),
      }),
    ]);
  });

  test("ends the others", async () => {
    let ended = false;
    const { start } = build({
      other: async (term) => {
        await untilAborted(term);
        ended = true;
      },
      dies: () => Promise.reject(new Error("x")),
    });
    start();
    await settle();
    expect(ended).toBe(true);
  });

  test("is reported although another loop does not end", async () => {
    const { deaths, start } = build({
      deaf: () => new Promise(() => undefined),
      dies: () => Promise.reject(new Error("x")),
    });
    start();
    await settle();
    expect(deaths).toEqual([expect.objectContaining({ message: expect.stringContaining("dies") as unknown })]);
  });

  test("ends the campaign of any leadership", async () => {
    const leadership = new FakeLeadership();
    const { deaths, start } = build({ dies: () => Promise.reject(new Error("x")) }, leadership);
    start();
    leadership.win();
    await settle();
    expect(deaths).toHaveLength(1);
  });

  test.each<[string, Loop]>([
    [
      "rejects with it",
      ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    ],
    ["fails over it", async (term) => untilAborted(term).then(() => Promise.reject(new Error("interrupted")))],
  ])("is none when its term ends and it %s", async (_name, loop) => {
    const { leaders, deaths, start } = build({ a: loop });
    start();
    await settle();
    await leaders.stop();
    expect(deaths).toEqual([]);
  });
});

describe("a campaign", () => {
  test("that fails is a death", async () => {
    const lost = new Error("the API server refuses the lease");
    const { leaders, deaths, start } = build({ a: untilAborted }, { campaign: () => Promise.reject(lost) });
    start();
    await settle();
    expect(deaths).toEqual([lost]);
    await expect(leaders.stop()).resolves.toBeUndefined();
  });

  test("that ends although nobody asked it to is a death: nothing would lead any more", async () => {
    const { deaths, start } = build({ a: untilAborted }, { campaign: () => Promise.resolve() });
    start();
    await settle();
    expect(deaths).toEqual([expect.objectContaining({ code: "EK_RUNTIME_COMPONENT_DIED" })]);
  });
});
