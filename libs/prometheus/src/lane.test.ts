import { describe, expect, test } from "@jest/globals";
import { Lane } from "./lane.ts";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Work that ends when the test says so, and tells when it began. */
class Works {
  readonly begun: number[] = [];
  readonly #ends = new Map<number, () => void>();

  start = (number: number) => (): Promise<number> => {
    this.begun.push(number);
    return new Promise((resolve) => this.#ends.set(number, () => resolve(number)));
  };

  end(number: number): void {
    this.#ends.get(number)?.();
  }
}

const forever = new AbortController().signal;

describe("a lane", () => {
  test("runs so much at once and the rest in the order in which it came", async () => {
    const lane = new Lane("http://p", 2, 10);
    const works = new Works();
    const runs = [1, 2, 3, 4].map((number) => lane.run(works.start(number), forever));
    await tick();
    expect(works.begun).toEqual([1, 2]);
    works.end(2);
    await tick();
    expect(works.begun).toEqual([1, 2, 3]);
    works.end(1);
    await tick();
    expect(works.begun).toEqual([1, 2, 3, 4]);
    works.end(3);
    works.end(4);
    expect(await Promise.all(runs)).toEqual([1, 2, 3, 4]);
    expect(lane.idle).toBe(true);
  });

  test("gives the place of work that failed to the next", async () => {
    const lane = new Lane("http://p", 1, 10);
    const failing = lane.run(() => Promise.reject(new Error("broken")), forever);
    const next = lane.run(() => Promise.resolve("fine"), forever);
    await expect(failing).rejects.toThrow("broken");
    expect(await next).toBe("fine");
  });

  test("passes over whoever gave up waiting", async () => {
    const lane = new Lane("http://p", 1, 10);
    const works = new Works();
    const first = lane.run(works.start(1), forever);
    const impatient = new AbortController();
    const second = lane.run(works.start(2), impatient.signal);
    const third = lane.run(works.start(3), forever);
    impatient.abort(new Error("too slow"));
    await expect(second).rejects.toThrow("too slow");
    works.end(1);
    await first;
    await tick();
    expect(works.begun).toEqual([1, 3]);
    works.end(3);
    await third;
    expect(lane.idle).toBe(true);
  });

  test("refuses at once when too many wait", async () => {
    const lane = new Lane("http://p", 1, 1);
    const works = new Works();
    const runs = [1, 2].map((number) => lane.run(works.start(number), forever));
    await expect(lane.run(works.start(3), forever)).rejects.toMatchObject({ code: "EK_PROMETHEUS_QUERY_QUEUE_FULL" });
    works.end(1);
    await tick();
    works.end(2);
    expect(await Promise.all(runs)).toEqual([1, 2]);
  });

  test("runs nothing for a signal that has aborted", async () => {
    const lane = new Lane("http://p", 1, 1);
    const works = new Works();
    await expect(lane.run(works.start(1), AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
    expect(works.begun).toEqual([]);
    expect(lane.idle).toBe(true);
  });

  test("leaves slots to other tenants, and lets tenants take turns", async () => {
    const lane = new Lane("http://p", 4, 100);
    const works = new Works();
    const slow = [1, 2, 3, 4, 5, 6].map((number) => lane.run(works.start(number), forever, "slow"));
    await tick();
    expect(works.begun).toEqual([1, 2, 3]);
    const other = [11, 12, 13].map((number) => lane.run(works.start(number), forever, "other"));
    await tick();
    expect(works.begun).toEqual([1, 2, 3, 11]);
    works.end(1);
    await tick();
    works.end(2);
    await tick();
    expect(works.begun).toEqual([1, 2, 3, 11, 4, 12]);
    for (const number of [3, 4, 5, 6, 11, 12, 13, 5, 6, 13]) {
      works.end(number);
      await tick();
    }
    await Promise.all([...slow, ...other]);
    expect(lane.idle).toBe(true);
  });
});
