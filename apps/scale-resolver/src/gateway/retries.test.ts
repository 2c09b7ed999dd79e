import { beforeEach, describe, expect, test } from "@jest/globals";
import { kubeErrors } from "@evenkeel/kube";
import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type RetriedTask, Retries, type AttemptOptions } from "./retries.ts";

const details = { reason: "", causes: [] };
const busy = (retryAfter?: number) =>
  new kubeErrors.ServerUnavailable({ call: "patch", message: "not now" }, { ...details, status: 503, retryAfter });
const timeout = () => new kubeErrors.Timeout({ call: "patch", milliseconds: 2000 });
const missing = () => new kubeErrors.NotFound({ call: "patch", message: "gone" }, { ...details, status: 404 });
const unreachable = () => new kubeErrors.Unreachable({ call: "patch", fault: "refused" });

describe("a retried task", () => {
  let clock: FakeClock;
  let retries: Retries;
  let lines: { readonly level: string; readonly error?: { readonly code?: string } }[];
  /** When each try began, and on what terms. */
  let tries: (AttemptOptions & { readonly at: number })[];
  let needed: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    lines = [];
    tries = [];
    needed = true;
    const destination = { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) };
    const log = createLogger({ service: "test", level: "info", secrets: [], destination });
    retries = new Retries({ clock, random: () => 1, log, failure: "it is not done" });
  });

  /** Fails with each of these, then succeeds. */
  const failing = (...failures: readonly Error[]): RetriedTask => ({
    needed: () => needed,
    attempt: (terms) => {
      tries.push({ ...terms, at: clock.monotonic() });
      const failure = failures[tries.length - 1];
      return failure === undefined ? Promise.resolve(true) : Promise.reject(failure);
    },
  });

  const begun = () => tries.map(({ at }) => at);

  test("has begun when the call returns", () => {
    retries.start("shop/checkout", failing());
    expect(begun()).toEqual([0]);
  });

  test("is retried after 100 ms at most, which doubles up to two seconds", async () => {
    retries.start("shop/checkout", failing(...Array.from({ length: 8 }, () => busy())));
    await clock.advance(60_000);
    expect(begun()).toEqual([0, 100, 300, 700, 1500, 3100, 5100, 7100, 9100]);
  });

  test("is retried at once with the lowest jitter", async () => {
    const destination = { write: () => undefined };
    const log = createLogger({ service: "test", level: "info", secrets: [], destination });
    retries = new Retries({ clock, random: () => 0, log, failure: "it is not done" });
    retries.start("shop/checkout", failing(busy(), busy()));
    await clock.advance(0);
    expect(begun()).toEqual([0, 0, 0]);
  });

  test("is retried when the server asks, and in five seconds if it asks for more", async () => {
    retries.start("shop/checkout", failing(busy(1000), busy(3_600_000)));
    await clock.advance(60_000);
    expect(begun()).toEqual([0, 1000, 6000]);
  });

  test("is retried every five seconds if a person must fix it, and logged once", async () => {
    retries.start("shop/checkout", failing(missing(), missing(), missing()));
    await clock.advance(60_000);
    expect(begun()).toEqual([0, 5000, 10_000, 15_000]);
    expect(lines.map(({ level, error }) => [level, error?.code])).toEqual([
      ["warn", "EK_KUBE_NOT_FOUND"],
      ["info", undefined],
    ]);
  });

  test("is logged again when it fails for another reason", async () => {
    retries.start("shop/checkout", failing(unreachable(), busy(), unreachable(), missing(), missing()));
    await clock.advance(60_000);
    const warned = lines.filter(({ level }) => level === "warn").map(({ error }) => error?.code);
    expect(warned).toEqual(["EK_KUBE_UNREACHABLE", "EK_KUBE_SERVER_UNAVAILABLE", "EK_KUBE_NOT_FOUND"]);
  });

  test("gets more time after each try that took too long, and not after others", async () => {
    retries.start("shop/checkout", failing(timeout(), busy(), timeout(), timeout(), timeout()));
    await clock.advance(60_000);
    expect(tries.map(({ deadline }) => deadline)).toEqual([2000, 4000, 4000, 8000, 10_000, 10_000]);
  });

  test("ends when it is no longer needed, and starts again for the next request", async () => {
    retries.start("shop/checkout", failing(...Array.from({ length: 5 }, () => busy())));
    await clock.advance(200);
    needed = false;
    await clock.advance(60_000);
    expect([begun(), retries.size, clock.pending]).toEqual([[0, 100], 0, 0]);
    retries.start("shop/checkout", failing());
    expect(begun()).toEqual([0, 100, 60_200]);
  });

  test("runs once for any number of requests meanwhile", async () => {
    for (let ask = 0; ask < 500; ask++) retries.start("shop/checkout", failing());
    await clock.advance(60_000);
    expect([begun(), retries.size, clock.pending]).toEqual([[0], 0, 0]);
  });

  test("is done for each key", () => {
    for (const key of ["shop/checkout", "shop/cart", "shop/checkout"]) retries.start(key, failing());
    expect(begun()).toEqual([0, 0]);
  });

  test("continues for the newest request", async () => {
    retries.start("shop/checkout", { needed: () => false, attempt: () => Promise.reject(busy()) });
    retries.start("shop/checkout", failing());
    await clock.advance(100);
    expect(begun()).toEqual([100]);
  });

  test("rests for a second after a success, and is done again if it was asked for in it and is still needed", async () => {
    retries.start("shop/checkout", failing());
    await clock.advance(500);
    retries.start("shop/checkout", failing());
    expect(begun()).toEqual([0]);
    await clock.advance(60_000);
    expect(begun()).toEqual([0, 1000]);
  });

  test("is not done again if it was asked for in the rest and is no longer needed", async () => {
    retries.start("shop/checkout", failing());
    await clock.advance(500);
    retries.start("shop/checkout", failing());
    needed = false;
    await clock.advance(60_000);
    expect(begun()).toEqual([0]);
  });

  test("is done at once again after the rest", async () => {
    retries.start("shop/checkout", failing());
    await clock.advance(1000);
    retries.start("shop/checkout", failing());
    expect(begun()).toEqual([0, 1000]);
  });

  test("runs at once for a request after its effect, and not again after the pause", async () => {
    retries.start("shop/checkout", failing());
    await clock.advance(300);
    retries.fulfilled("shop/checkout");
    expect(retries.size).toBe(0);
    retries.start("shop/checkout", failing());
    expect(begun()).toEqual([0, 300]);
    await clock.advance(10_000);
    expect(begun()).toEqual([0, 300]);
    expect(retries.size).toBe(0);
  });

  test("runs once although its effect is visible before the response", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const slow: RetriedTask = {
      needed: () => needed,
      attempt: (terms) => {
        tries.push({ ...terms, at: clock.monotonic() });
        return promise;
      },
    };
    retries.start("shop/checkout", slow);
    retries.fulfilled("shop/checkout");
    retries.start("shop/checkout", slow);
    resolve(true);
    await clock.advance(0);
    expect(begun()).toEqual([0]);
  });

  test("rests longer and longer while there is nothing to do, and a second again when there was", async () => {
    let something = false;
    const asked: RetriedTask = {
      needed: () => true,
      attempt: (terms) => {
        tries.push({ ...terms, at: clock.monotonic() });
        return Promise.resolve(something);
      },
    };
    const askUntil = async (end: number): Promise<void> => {
      while (clock.monotonic() < end) {
        retries.start("shop/checkout", asked);
        await clock.advance(100);
      }
    };
    await askUntil(24_000);
    expect(begun()).toEqual([0, 1000, 3000, 7000, 15_000, 23_000]);
    something = true;
    await askUntil(32_500);
    expect(begun().slice(6)).toEqual([31_000, 32_000]);
  });

  test("ends with the process, without retries and timers", async () => {
    retries.start("shop/checkout", failing(busy(), busy()));
    retries.start("shop/cart", failing());
    await clock.advance(0);
    retries.stop();
    retries.start("shop/basket", failing());
    await clock.advance(60_000);
    expect([tries.length, retries.size, clock.pending]).toEqual([2, 0, 0]);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("does not crash the process because of a defect of the caller", async () => {
    const broken = (): boolean => {
      throw new Error("broken");
    };
    retries.start("shop/checkout", { ...failing(busy()), needed: broken });
    await clock.advance(60_000);
    expect(lines.map(({ level }) => level)).toEqual(["warn", "error"]);
    expect(retries.size).toBe(0);
  });
});
