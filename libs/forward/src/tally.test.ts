import { expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { FakeClock } from "@evenkeel/runtime/testing";
import { Tally } from "./tally.ts";

test("gathers counts and pours them into the registry within a quarter of a second, then has no timer", async () => {
  const clock = new FakeClock();
  const registry = new MetricRegistry();
  const tally = new Tally(registry, clock);
  expect(await registry.text()).toContain('evenkeel_forward_open{kind="exchange"} 0');
  tally.opened("exchange");
  tally.opened("exchange");
  tally.closed("exchange");
  for (let round = 0; round < 5; round++) tally.ended("h2", "2xx");
  tally.failed("connect");
  tally.retried();
  expect(await registry.text()).toContain('evenkeel_forward_requests_total{protocol="h2",answer="2xx"} 0');
  await clock.advance(250);
  const text = await registry.text();
  expect(text).toContain('evenkeel_forward_open{kind="exchange"} 1');
  expect(text).toContain('evenkeel_forward_requests_total{protocol="h2",answer="2xx"} 5');
  expect(text).toContain('evenkeel_forward_failures_total{kind="connect"} 1');
  expect(text).toContain("evenkeel_forward_retries_total 1");
  tally.ended("h2", "2xx");
  await clock.advance(250);
  expect(await registry.text()).toContain('evenkeel_forward_requests_total{protocol="h2",answer="2xx"} 6');
});
