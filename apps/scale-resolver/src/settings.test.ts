import { readSettings, type SettingsTable } from "@evenkeel/runtime";
import { describe, expect, test } from "@jest/globals";
import { settings } from "./settings.ts";

const { podIp, triggerInterval } = settings;

function read<const T extends SettingsTable>(table: T, env: Readonly<Record<string, string>>) {
  const reading = readSettings(table, [], env);
  return reading.ok ? reading.settings : reading.faults;
}

describe("the interval of triggers", () => {
  test.each([
    ["a duration", "1m30s", 90_000],
    ["a bare number of seconds, as KubeElasti's chart has it", "30", 30_000],
  ])("may be %s", (_what, text, milliseconds) => {
    expect(read({ triggerInterval }, { POLLING_INTERVAL: text })).toEqual({ triggerInterval: milliseconds });
  });

  test.each(["0", "0s", "0.0ms", "-1s", "soon"])("cannot be %s", (text) => {
    expect(read({ triggerInterval }, { POLLING_INTERVAL: text })).toEqual([
      expect.stringContaining(`$POLLING_INTERVAL: "${text}"`),
    ]);
  });
});

describe("the addresses of a replica", () => {
  test("are of both families where the node has both", () => {
    expect(read({ podIp }, { POD_IPS: "10.0.0.7,fd00::7" })).toEqual({ podIp: ["10.0.0.7", "fd00::7"] });
  });

  test.each(["scale-resolver.svc", "10.0.0", "10.0.0.7,,10.0.0.8"])("cannot be %s", (text) => {
    expect(read({ podIp }, { POD_IP: text })).toEqual([expect.stringContaining(`$POD_IP: "${text}"`)]);
  });
});
