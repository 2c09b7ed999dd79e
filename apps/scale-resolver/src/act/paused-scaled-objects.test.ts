import { describe, expect, test } from "@jest/globals";
import { type State, STATES } from "../decide/state.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { PausedScaledObjects, type Paused, pauseIn, scaledObjectOf } from "./paused-scaled-objects.ts";

describe("the ScaledObject to pause", () => {
  test("is the one that is named, and none for an autoscaler that steps aside by itself", () => {
    expect(scaledObjectOf({ type: "keda", name: "checkout" })).toBe("checkout");
    expect(scaledObjectOf({ type: "hpa", name: "checkout" })).toBe("");
    expect(scaledObjectOf(null)).toBe("");
  });

  test.each(STATES)("is none in %s for a workload that another client scaled to zero", (state) => {
    expect(pauseIn(state, null, "new")).toBeNull();
  });

  test.each<[State, Paused, string, Paused]>([
    ["Zero", "old", "old", "old"],
    ["Zero", "old", "new", "new"],
    ["Zero", "old", "", ""],
    ["Zero", "", "new", "new"],
    ["Zero", "", "", ""],
    ["Guard", "old", "old", "old"],
    ["Guard", "old", "new", ""],
    ["Guard", "", "new", ""],
    ["Wake", "old", "old", "old"],
    ["Wake", "old", "", ""],
    ["Serve", "old", "old", null],
    ["Serve", "old", "new", null],
    ["Serve", "", "new", null],
  ])("in %s, with %j paused and %j named, is %j", (state, paused, named, wanted) => {
    expect(pauseIn(state, paused, named)).toBe(wanted);
  });
});

describe("the record of paused ScaledObjects", () => {
  const term = { signal: new AbortController().signal };
  const elasti = (status?: ElastiServiceStatus): StoredElastiService => ({
    metadata: { namespace: "shop", name: "checkout" },
    ...(status ? { status } : {}),
  });
  const opened = () => {
    const written: unknown[] = [];
    const book = new PausedScaledObjects({
      write: (_, status) => {
        written.push(status);
        return Promise.resolve();
      },
    });
    return { book, written };
  };

  test("is what the status says, to a process that remembers nothing, which has not seen it paused", () => {
    const { book } = opened();
    expect(book.of(elasti())).toBeNull();
    expect(book.of(elasti({ pausedScaledObject: "" }))).toBe("");
    expect(book.of(elasti({ pausedScaledObject: "old" }))).toBe("old");
    expect(book.isCertain(elasti({ pausedScaledObject: "old" }))).toBe(false);
  });

  test("is certain where there is nothing to pause", () => {
    const { book } = opened();
    expect(book.isCertain(elasti())).toBe(true);
    expect(book.isCertain(elasti({ pausedScaledObject: "" }))).toBe(true);
  });

  test("is written before the pause, once, and known though the status that is seen is older", async () => {
    const { book, written } = opened();
    await book.recordPaused(elasti(), "new", term);
    await book.recordPaused(elasti(), "new", term);
    expect(written).toEqual([{ pausedScaledObject: "new" }]);
    expect(book.of(elasti())).toBe("new");
    expect(book.isCertain(elasti())).toBe(false);
    book.confirm(elasti());
    expect(book.isCertain(elasti())).toBe(true);
    expect(book.of(elasti({ pausedScaledObject: "old" }))).toBe("new");
  });

  test("stays as it was where it cannot be written", async () => {
    const book = new PausedScaledObjects({ write: () => Promise.reject(new Error("reset")) });
    await expect(book.recordPaused(elasti(), "new", term)).rejects.toThrow("reset");
    expect(book.of(elasti())).toBeNull();
  });

  test("is struck out at once, whatever the status that is seen says", () => {
    const { book } = opened();
    book.recordResumed(elasti({ pausedScaledObject: "old" }));
    expect(book.of(elasti({ pausedScaledObject: "old" }))).toBeNull();
  });

  test("is the status's again once it is forgotten, since another may have written it", async () => {
    const { book } = opened();
    await book.recordPaused(elasti(), "new", term);
    book.forget("shop/checkout");
    expect(book.of(elasti({ pausedScaledObject: "old" }))).toBe("old");
    book.recordResumed(elasti());
    book.forgetAll();
    expect(book.of(elasti({ pausedScaledObject: "old" }))).toBe("old");
  });
});
