import { describe, expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Connections } from "./connections.ts";
import { ServerGuards } from "./server-guard.ts";

const MINUTE = 60_000;

describe("connections", () => {
  test("are shared by those who ask one server in the same way", async () => {
    const connections = new Connections({ clock: new FakeClock(), proxyFor: () => undefined });
    const first = connections.dispatcher("http://a", {});
    expect(connections.dispatcher("http://a", {})).toBe(first);
    expect(connections.dispatcher("http://b", {})).not.toBe(first);
    expect(connections.dispatcher("http://a", { ca: "other" })).not.toBe(first);
    expect(connections.lane("http://a")).toBe(connections.lane("http://a"));
    await connections.stop();
  });

  test("are not shared by a tenant that may ask other servers than the rest", async () => {
    const guards = new ServerGuards(["a", "shop/b"]);
    const connections = new Connections({ clock: new FakeClock(), proxyFor: () => undefined, guards });
    const first = connections.dispatcher("http://a", {}, "anna");
    expect(connections.dispatcher("http://a", {}, "boris")).toBe(first);
    expect(connections.dispatcher("http://a", {}, "shop")).not.toBe(first);
    await connections.stop();
  });

  test("are let go when nobody used them for ten minutes", async () => {
    const clock = new FakeClock();
    const connections = new Connections({ clock, proxyFor: () => undefined });
    for (const origin of ["http://a", "http://b"]) {
      connections.lane(origin);
      connections.dispatcher(origin, {});
    }
    await clock.advance(9 * MINUTE);
    connections.lane("http://a");
    const used = connections.dispatcher("http://a", {});
    await clock.advance(MINUTE);
    connections.lane("http://a");
    expect(connections.kept).toEqual({ lanes: 1, dispatchers: 1 });
    expect(connections.dispatcher("http://a", {})).toBe(used);
    await connections.stop();
  });

  test("of a lane in use stay, however long its query takes", async () => {
    const clock = new FakeClock();
    const connections = new Connections({ clock, proxyFor: () => undefined });
    let end: () => void = () => undefined;
    const busy = connections.lane("http://slow");
    const run = busy.run(() => new Promise<void>((resolve) => (end = resolve)), new AbortController().signal);
    await clock.advance(60 * MINUTE);
    connections.lane("http://other");
    expect(connections.lane("http://slow")).toBe(busy);
    end();
    await run;
    await connections.stop();
  });

  test("are made no more after the stop", async () => {
    const connections = new Connections({ clock: new FakeClock(), proxyFor: () => undefined });
    await connections.stop();
    expect(() => connections.dispatcher("http://a", {})).toThrow(
      expect.objectContaining({ code: "EK_PROMETHEUS_STOPPED" }),
    );
  });
});
