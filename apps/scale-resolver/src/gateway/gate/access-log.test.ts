import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { metrics } from "../../metrics.ts";
import { GatedService } from "./gated-service.ts";
import type { GateRoute } from "./gate-route.ts";
import { type Ended, AccessLog } from "./access-log.ts";

function newAccessLog(busy: () => boolean = () => false) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const registry = new MetricRegistry();
  const log = createLogger({
    service: "test",
    level: "info",
    secrets: [],
    destination: { write: (line) => lines.push(line) },
  });
  const accessLog = new AccessLog({ clock, log, metrics: registry.register(metrics), busy });
  const route = { key: "shop/checkout", namespace: "shop", service: "checkout" } as GateRoute;
  const service = new GatedService(route);
  const entry: Ended = {
    service,
    outcome: "released",
    held: true,
    waited: 120,
    took: 150,
    status: 200,
    method: "GET",
    path: "/",
  };
  return { clock, lines, registry, accessLog, service, entry };
}

test("a burst is written by and by, so that no request waits for the log, and no timer is left", async () => {
  const { clock, lines, accessLog, entry } = newAccessLog();
  for (let index = 0; index < 1000; index++) accessLog.ended(entry);
  expect(lines).toHaveLength(0);
  await clock.advance(250);
  expect(lines).toHaveLength(200);
  await clock.advance(1000);
  expect(lines).toHaveLength(1000);
  expect(clock.pending).toBe(0);
});

test("lines wait until held requests are forwarded, and for five seconds at most", async () => {
  let isBusy = true;
  const { clock, lines, accessLog, entry } = newAccessLog(() => isBusy);
  accessLog.ended(entry);
  await clock.advance(4000);
  expect(lines).toHaveLength(0);
  isBusy = false;
  await clock.advance(250);
  expect(lines).toHaveLength(1);
  isBusy = true;
  accessLog.ended(entry);
  await clock.advance(5250);
  expect(lines).toHaveLength(2);
  expect(clock.pending).toBe(0);
});

test("what passed through is counted and not logged", async () => {
  const { clock, lines, registry, accessLog, service, entry } = newAccessLog();
  service.requests = 3;
  service.inFlight = 1;
  accessLog.passed(service, entry.status, entry.took);
  await clock.advance(250);
  expect(lines).toEqual([]);
  const text = await registry.text();
  expect(text).toContain(`evenkeel_resolver_requests_total{namespace="shop",service="checkout"} 3`);
  expect(text).toContain(`evenkeel_resolver_in_flight{namespace="shop",service="checkout"} 1`);
  expect(text).toContain(`elasti_resolver_incoming_requests_count{namespace="shop",source="checkout",status="2xx"} 1`);
});

test("more lines than are kept are left out and their number is said, and all are counted", () => {
  const { lines, accessLog, entry } = newAccessLog();
  for (let index = 0; index < 20_010; index++) accessLog.ended(entry);
  accessLog.flush();
  expect(lines).toHaveLength(20_001);
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ lines: 10 });
});
