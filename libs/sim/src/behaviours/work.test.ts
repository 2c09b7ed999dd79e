import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { badRequest } from "../status.ts";
import { Work } from "./work.ts";

/** A clock on which each look at the time costs 1 ms, and which counts the turns that were asked for. */
class BusyClock extends FakeClock {
  turns = 0;
  #spent = 0;

  override monotonic(): number {
    this.#spent += 1;
    return super.monotonic() + this.#spent;
  }

  override schedule(delay: number, task: () => void): () => void {
    this.turns += 1;
    return super.schedule(delay, task);
  }
}

describe("work", () => {
  test("runs a key once however often it was added, and not before the call is over", async () => {
    const clock = new FakeClock();
    const done: string[] = [];
    const work = new Work(clock, (key) => done.push(key));
    for (const key of ["a", "b", "a"]) work.add(key);
    expect(done).toEqual([]);
    await clock.advance(0);
    expect(done).toEqual(["a", "b"]);
  });

  test("leaves the loop to others when a slice is over, and forgets no key", async () => {
    const clock = new BusyClock();
    const done: string[] = [];
    const work = new Work(clock, (key) => done.push(key));
    for (let key = 0; key < 10; key++) work.add(String(key));
    await clock.advance(0);
    expect(done).toHaveLength(10);
    expect(clock.turns).toBe(4);
  });

  test("tries a key again a second after the API server refused it", async () => {
    const clock = new FakeClock();
    let attempts = 0;
    const work = new Work(clock, () => {
      if (++attempts < 3) throw badRequest("not yet");
    });
    work.add("a");
    await clock.advance(999);
    expect(attempts).toBe(1);
    await clock.advance(5000);
    expect(attempts).toBe(3);
  });

  test("leaves no timer when it is stopped", () => {
    const clock = new FakeClock();
    const work = new Work(clock, () => undefined);
    work.add("a");
    work.addAfter(5, "b");
    work.stop();
    expect(clock.pending).toBe(0);
  });
});
