import { expect, test } from "@jest/globals";
import { readSettings } from "./read.ts";
import { runtimeSettings } from "./runtime-settings.ts";

test("a service that is told nothing has the house's defaults", () => {
  expect(readSettings(runtimeSettings, [], {})).toMatchObject({
    ok: true,
    settings: {
      dryRun: false,
      adminPort: 8080,
      healthPort: 8081,
      logLevel: "info",
      shutdownDelay: 5000,
      drainTimeout: 20_000,
      recordedSnapshots: 100,
      recordedBytes: 32 * 1024 * 1024,
    },
    sources: { adminPort: "default", listenHost: "unset" },
  });
});

test("delay, drain and the last stops fit into Kubernetes' grace period of 30 s", () => {
  const reading = readSettings(runtimeSettings, [], {});
  if (!reading.ok) throw new Error(reading.faults.join());
  expect(reading.settings.shutdownDelay + reading.settings.drainTimeout).toBeLessThanOrEqual(26_000);
});

test.each(Object.entries(runtimeSettings))("%s has one sentence of help, without a full stop", (_key, { help }) => {
  expect(help).toMatch(/^[A-Z][^|\n]{10,}[^.]$/);
});
