import { describe, expect, test } from "@jest/globals";
import { defineError } from "../error.ts";
import type { Server } from "./component.ts";
import { DELAY, DRAIN, Stage } from "../testing/stage.ts";

/** A line of `Stage.complaints` that names the values in this order, whatever else it says. */
function complaint(level: string, code: string, ...values: readonly string[]): unknown {
  return expect.stringMatching(new RegExp(`^${level} ${code} .*${values.join(".*")}`));
}

const never = () => new Promise<never>(() => undefined);
const Refused = defineError({
  code: "EK_TEST_REFUSED",
  recovery: "terminal",
  message: "refused",
  remedy: "Ask again.",
});

describe("the start", () => {
  test("takes one component after the other, then the leader loops, and then the process is ready", async () => {
    const stage = new Stage();
    stage.use("a", { start: () => new Promise((resolve) => stage.clock.schedule(100, resolve)) });
    stage.open("b");
    stage.lead("loop");
    await stage.run();
    expect([stage.events, stage.lifecycle.phase]).toEqual([["0 start a"], "starting"]);
    expect(stage.lifecycle.unready()).toEqual([{ name: "lifecycle", reason: "starting" }]);
    await stage.clock.advance(100);
    expect(stage.events).toEqual(["0 start a", "100 start b", "100 lead loop"]);
    expect([stage.lifecycle.phase, stage.lifecycle.unready()]).toEqual(["running", []]);
    expect(stage.host.lines).toEqual([expect.objectContaining({ phase: "ready", ports: { b: 8012 } })]);
  });

  test("of components that have nothing to start or stop is no failure", async () => {
    const stage = new Stage();
    stage.lifecycle.use({ name: "a" });
    await stage.run();
    await stage.signal("SIGTERM");
    expect(stage.code).toBe(0);
  });

  test("leaves the process not ready as long as a component says so", async () => {
    const stage = new Stage();
    let reason: string | undefined = "the cache is cold";
    stage.use("cache", { unready: () => reason });
    stage.use("other", { unready: () => undefined });
    await stage.run();
    expect(stage.lifecycle.unready()).toEqual([{ name: "cache", reason: "the cache is cold" }]);
    reason = undefined;
    expect(stage.lifecycle.unready()).toEqual([]);
  });

  test.each<[string, () => Promise<void> | void]>([
    ["rejects", () => Promise.reject(new Error("no route"))],
    [
      "throws",
      () => {
        throw new Error("no route");
      },
    ],
  ])("that %s stops what had started, itself included, starts nothing more and exits 1", async (_name, start) => {
    const stage = new Stage();
    stage.use("a");
    stage.open("b");
    stage.lifecycle.use({ name: "c", start, stop: () => stage.note("stop c") });
    stage.use("d");
    stage.lead("loop");
    await stage.run();
    expect(stage.code).toBe(1);
    expect(stage.events).toEqual(["0 start a", "0 start b", "0 drain b", "0 stop c", "0 stop b", "0 stop a"]);
    expect(stage.complaints).toEqual([complaint("fatal", "EK_RUNTIME_START_FAILED", "c", "no route")]);
  });

  test("that fails with a code of its own ends the process with that code", async () => {
    const stage = new Stage();
    stage.use("a", { start: () => Promise.reject(new Refused({})) });
    await stage.run();
    expect(stage.complaints).toEqual(["fatal EK_TEST_REFUSED refused"]);
  });

  test("that hangs is cut short by a signal, and nothing more is started", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.use("b", { start: never });
    stage.open("c");
    stage.lead("loop");
    await stage.run(60_000);
    expect(stage.lifecycle.phase).toBe("starting");
    await stage.signal("SIGTERM", 0);
    expect(stage.code).toBe(0);
    expect(stage.events).toEqual(["0 start a", "0 start b", "60000 stop b", "60000 stop a"]);
    expect(stage.phases).toEqual(["not ready", "stopped"]);
  });

  test("that fails after it was cut short is not reported again", async () => {
    const stage = new Stage();
    stage.use("a", {
      start: ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("cut")))),
    });
    await stage.run();
    await stage.signal("SIGTERM");
    expect([stage.code, stage.complaints]).toEqual([0, []]);
  });

  test("goes no further after a component that started has died", async () => {
    const stage = new Stage();
    stage.lifecycle.use({ name: "a", start: ({ fail }) => fail(new Error("gone")) });
    stage.lifecycle.use({ name: "b", start: () => stage.note("start b") });
    stage.lead("loop");
    await stage.run();
    expect([stage.code, stage.events]).toEqual([1, []]);
  });
});

describe("the stop after a signal", () => {
  test.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])("%s goes its way in order and exits 0", async (signal) => {
    const stage = new Stage();
    stage.use("a");
    stage.open("server", () => new Promise((resolve) => stage.clock.schedule(700, () => resolve(0))));
    stage.use("c");
    stage.lead("loop");
    await stage.run();
    stage.events.length = 0;
    await stage.signal(signal, DELAY - 1);
    expect(stage.events).toEqual(["0 end loop"]);
    await stage.clock.advance(DRAIN);
    expect(stage.events).toEqual(["0 end loop", "5000 drain server", "5700 stop c", "5700 stop server", "5700 stop a"]);
    expect(stage.phases).toEqual(["ready", "not ready", "leader loops stopped", "delay", "drain", "stopped"]);
    expect(stage.code).toBe(0);
  });

  test("is told to every component and shown to probes at once", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.open("server");
    await stage.run();
    expect(stage.running.get("a")?.signal.aborted).toBe(false);
    await stage.signal("SIGTERM", 0);
    expect(stage.running.get("a")?.signal.aborted).toBe(true);
    expect(stage.lifecycle.unready()).toEqual([{ name: "lifecycle", reason: "stopping" }]);
  });

  test("does not wait for load balancers where there is no server", async () => {
    const stage = new Stage();
    stage.use("a");
    await stage.run();
    await stage.signal("SIGTERM", 0);
    expect(stage.code).toBe(0);
  });

  test("leaves neither timers nor servers behind", async () => {
    const stage = new Stage();
    stage.open("server");
    stage.lead("loop");
    await stage.run();
    await stage.signal("SIGTERM", DELAY);
    expect([stage.code, stage.clock.pending, stage.host.eventNames()]).toEqual([0, 0, []]);
  });

  test("drains all servers at the same time", async () => {
    const stage = new Stage();
    for (const name of ["a", "b"]) {
      stage.open(name, () => new Promise((resolve) => stage.clock.schedule(DRAIN - 1, () => resolve(0))));
    }
    await stage.run();
    stage.events.length = 0;
    await stage.signal("SIGTERM", DELAY + DRAIN);
    expect(stage.events).toEqual(["5000 drain a", "5000 drain b", "24999 stop b", "24999 stop a"]);
    expect(stage.code).toBe(0);
  });

  test("cuts what outlasts the drain, says how many requests that were, and is still orderly", async () => {
    const stage = new Stage();
    stage.open("server", (deadline) => new Promise((resolve) => deadline.addEventListener("abort", () => resolve(3))));
    await stage.run();
    await stage.signal("SIGTERM", DELAY + DRAIN);
    expect(stage.host.lines).toContainEqual(expect.objectContaining({ level: "warn", component: "server", cut: 3 }));
    expect([stage.code, stage.clock.pending]).toEqual([0, 0]);
  });

  test.each<[string, Server["drain"], string]>([
    ["does not end", never, "21000"],
    ["fails", () => Promise.reject(new Error("stuck")), "stuck"],
  ])("goes on when a drain %s, and exits 1", async (_name, drain, message) => {
    const stage = new Stage();
    stage.use("a");
    stage.open("server", drain);
    await stage.run();
    await stage.signal("SIGTERM");
    expect(stage.complaints).toEqual([complaint("error", "EK_RUNTIME_STOP_FAILED", "server", message)]);
    expect(stage.events.map((event) => event.replace(/^\d+ /, "")).slice(-2)).toEqual(["stop server", "stop a"]);
    expect(stage.code).toBe(1);
  });

  test.each<[string, () => Promise<void>, string]>([
    ["does not end", never, "3000"],
    ["fails", () => Promise.reject(new Error("stuck")), "stuck"],
  ])("goes on when the stop of a component %s, and exits 1", async (_name, stop, message) => {
    const stage = new Stage();
    stage.use("a");
    stage.use("b", { stop });
    stage.use("c");
    await stage.run();
    stage.events.length = 0;
    await stage.signal("SIGTERM");
    expect(stage.events.map((event) => event.replace(/^\d+ /, ""))).toEqual(["stop c", "stop b", "stop a"]);
    expect(stage.complaints).toEqual([complaint("error", "EK_RUNTIME_STOP_FAILED", "b", message)]);
    expect([stage.code, stage.clock.pending]).toEqual([1, 0]);
  });

  test("is orderly when a component gives up what it waits for as soon as its deadline says so", async () => {
    const stage = new Stage();
    stage.use("a", {
      stop: async (deadline) => {
        await new Promise((resolve) => deadline.addEventListener("abort", resolve));
        await new Promise((resolve) => stage.clock.schedule(100, () => resolve(undefined)));
      },
    });
    await stage.run();
    await stage.signal("SIGTERM");
    expect([stage.code, stage.complaints]).toEqual([0, []]);
  });

  test("fits into Kubernetes' grace period of 30 s even when requests and one component hang", async () => {
    const stage = new Stage();
    stage.use("a", { stop: never });
    stage.open("server", never);
    stage.lead("loop");
    await stage.run();
    await stage.signal("SIGTERM", 30_000);
    expect(stage.code).toBe(1);
  });

  test("goes on when a leader loop does not end, and exits 1", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.lifecycle.leaders.add("deaf", never);
    await stage.run();
    await stage.signal("SIGTERM");
    expect(stage.complaints).toEqual([complaint("error", "EK_RUNTIME_STOP_FAILED", "leader loops", "21000")]);
    expect([stage.code, stage.events.at(-1)]).toEqual([1, "21000 stop a"]);
    expect(stage.phases).not.toContain("leader loops stopped");
  });
});

test("a leader loop that takes its time takes it off the delay and the drain, not on top of them", async () => {
  const stage = new Stage();
  stage.open("server", never);
  stage.lifecycle.leaders.add("slow", async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await new Promise((resolve) => stage.clock.schedule(8000, () => resolve(undefined)));
  });
  await stage.run();
  stage.events.length = 0;
  await stage.signal("SIGTERM");
  expect(stage.events).toEqual(["8000 drain server", `${DELAY + DRAIN + 1000} stop server`]);
});

describe("a death", () => {
  test("stops the process in order but without the delay, says who and why, and exits 1", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.open("server");
    stage.lead("loop");
    await stage.run(1000);
    stage.running.get("a")?.fail(new Error("the connection is gone"));
    await stage.clock.advance(0);
    expect(stage.code).toBe(1);
    expect(stage.events.slice(3)).toEqual(["1000 end loop", "1000 drain server", "1000 stop server", "1000 stop a"]);
    expect(stage.complaints).toEqual([complaint("fatal", "EK_RUNTIME_COMPONENT_DIED", "a", "the connection is gone")]);
    expect(stage.phases).not.toContain("delay");
  });

  test("with a code of its own keeps that code", async () => {
    const stage = new Stage();
    stage.use("a");
    await stage.run();
    stage.running.get("a")?.fail(new Refused({}));
    await stage.clock.advance(0);
    expect([stage.code, stage.complaints]).toEqual([1, ["fatal EK_TEST_REFUSED refused"]]);
  });

  test("during the start of another ends that start", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.use("b", { start: never });
    await stage.run();
    stage.running.get("a")?.fail("no more");
    await stage.clock.advance(0);
    expect([stage.code, stage.complaints]).toEqual([
      1,
      [complaint("fatal", "EK_RUNTIME_COMPONENT_DIED", "a", "no more")],
    ]);
    expect(stage.events).toEqual(["0 start a", "0 start b", "0 stop b", "0 stop a"]);
  });

  test("while stopping is reported and makes the exit code 1", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.open("server");
    await stage.run();
    await stage.signal("SIGTERM", 10);
    stage.running.get("a")?.fail(new Error("late"));
    await stage.clock.advance(DELAY);
    expect([stage.code, stage.complaints]).toEqual([1, [complaint("error", "EK_RUNTIME_COMPONENT_DIED", "a", "late")]]);
  });

  test("of a second component is reported too", async () => {
    const stage = new Stage();
    stage.use("a");
    stage.use("b");
    await stage.run();
    stage.running.get("a")?.fail(new Error("first"));
    stage.running.get("b")?.fail(new Error("second"));
    await stage.clock.advance(0);
    expect(stage.complaints.toSorted()).toEqual([
      complaint("error", "EK_RUNTIME_COMPONENT_DIED", "b", "second"),
      complaint("fatal", "EK_RUNTIME_COMPONENT_DIED", "a", "first"),
    ]);
    expect(stage.code).toBe(1);
  });

  test("of a leader loop names the loop", async () => {
    const stage = new Stage();
    stage.lifecycle.leaders.add("rebalance", () => Promise.reject(new Error("a defect")));
    await stage.run();
    expect([stage.code, stage.complaints]).toEqual([
      1,
      [complaint("fatal", "EK_RUNTIME_COMPONENT_DIED", "rebalance", "a defect")],
    ]);
  });

  test.each([
    ["uncaughtException", "exception"],
    ["unhandledRejection", "rejection"],
  ])("by an %s takes the same way and shows the stack", async (event, origin) => {
    const stage = new Stage();
    stage.open("server");
    await stage.run();
    const surprise = new TypeError("x is undefined");
    stage.host.emit(event, surprise, "origin");
    await stage.clock.advance(0);
    expect([stage.code, stage.complaints]).toEqual([
      1,
      [complaint("fatal", "EK_RUNTIME_UNHANDLED", origin, "x is undefined")],
    ]);
    expect(stage.host.lines).toContainEqual(
      expect.objectContaining({ error: expect.objectContaining({ stack: surprise.stack }) }),
    );
  });
});

describe("a second signal", () => {
  test("is one that follows a signal: the first after a death does not cut its way out short", async () => {
    const stage = new Stage();
    stage.use("a", { stop: () => new Promise<void>((resolve) => stage.clock.schedule(500, () => resolve())) });
    await stage.run();
    stage.running.get("a")?.fail(new Error("the connection is gone"));
    await stage.clock.advance(100);
    await stage.signal("SIGTERM");
    expect([stage.code, stage.host.exits]).toEqual([1, []]);
  });

  test.each<[NodeJS.Signals, number]>([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ])("%s exits at once with %d", async (signal, code) => {
    const stage = new Stage();
    stage.open("server", never);
    await stage.run();
    await stage.signal("SIGTERM", 10);
    expect(stage.host.exits).toEqual([]);
    stage.host.emit(signal, signal);
    expect(stage.host.exits).toEqual([code]);
    expect(stage.complaints).toEqual([complaint("fatal", "EK_RUNTIME_SECOND_SIGNAL", signal)]);
  });

  test("counts from the moment of the first, also while a start hangs", async () => {
    const stage = new Stage();
    stage.use("a", { start: never, stop: never });
    await stage.run();
    stage.host.emit("SIGTERM", "SIGTERM");
    stage.host.emit("SIGTERM", "SIGTERM");
    expect(stage.host.exits).toEqual([143]);
  });
});
