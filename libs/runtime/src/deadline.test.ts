import { getEventListeners } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { aborted, withDeadline } from "./deadline.ts";
import { FakeClock } from "./testing/fake-clock.ts";

/** Work that never ends and ignores its signal. */
const deaf = () => new Promise<never>(() => undefined);

describe("work with a deadline", () => {
  test("gives its result and leaves neither timer nor listener", async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    await expect(withDeadline({ clock, milliseconds: 10, signal, what: "x" }, () => Promise.resolve(7))).resolves.toBe(
      7,
    );
    expect(clock.pending).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("gives its own error and leaves neither timer nor listener", async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const work = () => Promise.reject(new Error("mine"));
    await expect(withDeadline({ clock, milliseconds: 10, signal, what: "x" }, work)).rejects.toThrow("mine");
    expect(clock.pending).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("gives what it throws before its first promise as a rejection, and leaves no timer", async () => {
    const clock = new FakeClock();
    const work = () => {
      throw new Error("at once");
    };
    await expect(withDeadline({ clock, milliseconds: 10, what: "x" }, work)).rejects.toThrow("at once");
    expect(clock.pending).toBe(0);
  });

  test("is told to stop at the deadline, and the caller goes on although it does not", async () => {
    const clock = new FakeClock();
    let told: unknown;
    const call = withDeadline({ clock, milliseconds: 250, what: "asking Prometheus" }, (signal) => {
      signal.addEventListener("abort", () => void (told = signal.reason));
      return deaf();
    });
    const failed = expect(call).rejects.toMatchObject({
      code: "EK_RUNTIME_DEADLINE_EXCEEDED",
      recovery: "retryable",
      message: expect.stringMatching(/asking Prometheus .*\b250 ms/),
    });
    await clock.advance(249);
    expect(told).toBeUndefined();
    await clock.advance(1);
    await failed;
    expect(told).toMatchObject({ code: "EK_RUNTIME_DEADLINE_EXCEEDED" });
  });

  test("ends with the outer signal's own reason, even in the moment of the deadline", async () => {
    const clock = new FakeClock();
    const outer = new AbortController();
    clock.schedule(100, () => outer.abort(new Error("the term ended")));
    const call = withDeadline({ clock, milliseconds: 100, signal: outer.signal, what: "x" }, deaf);
    const failed = expect(call).rejects.toThrow("the term ended");
    await clock.advance(100);
    await failed;
    expect(clock.pending).toBe(0);
  });

  test("does not begin when the outer signal has aborted already", async () => {
    const clock = new FakeClock();
    let began = false;
    const work = () => Promise.resolve((began = true));
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(withDeadline({ clock, milliseconds: 1, signal, what: "x" }, work)).rejects.toThrow("too late");
    expect([began, clock.pending]).toEqual([false, 0]);
  });

  test("may fail after its deadline without anyone hearing of it", async () => {
    const clock = new FakeClock();
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const late = Promise.withResolvers<never>();
    const call = withDeadline({ clock, milliseconds: 1, what: "x" }, () => late.promise);
    const failed = expect(call).rejects.toMatchObject({ code: "EK_RUNTIME_DEADLINE_EXCEEDED" });
    await clock.advance(1);
    await failed;
    late.reject(new Error("late"));
    await clock.advance(1);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("aborted", () => {
  test("rejects with the reason when the signal aborts, and at once if it has", async () => {
    const controller = new AbortController();
    const waiting = aborted(controller.signal);
    controller.abort(new Error("now"));
    await expect(waiting).rejects.toThrow("now");
    await expect(aborted(controller.signal)).rejects.toThrow("now");
  });
});
