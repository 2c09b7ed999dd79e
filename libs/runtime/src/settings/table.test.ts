import { describe, expect, test } from "@jest/globals";
import { readSettings } from "./read.ts";
import { flagName, setting, type SettingsOf, variableNames } from "./table.ts";

describe("a setting", () => {
  test.each([
    ["port", "port", "EVENKEEL_PORT"],
    ["shutdownDelay", "shutdown-delay", "EVENKEEL_SHUTDOWN_DELAY"],
    ["port1", "port1", "EVENKEEL_PORT1"],
    ["maxQPSOfAll", "max-q-p-s-of-all", "EVENKEEL_MAX_Q_P_S_OF_ALL"],
  ])("called %s is the flag --%s and the variable %s", (key, flag, variable) => {
    expect(flagName(key)).toBe(flag);
    expect(variableNames(key, setting.text({ help: "x" }))).toEqual([variable]);
  });

  test("keeps the variables of the original project after its own", () => {
    const line = setting.text({ help: "x", env: ["POD_NAMESPACE", "NAMESPACE"] });
    expect(variableNames("namespace", line)).toEqual(["EVENKEEL_NAMESPACE", "POD_NAMESPACE", "NAMESPACE"]);
  });

  test("is required unless it has a default or is optional", () => {
    expect(setting.text({ help: "x" }).presence).toBe("required");
    expect(setting.text({ help: "x", optional: true }).presence).toBe("optional");
    expect(setting.text({ help: "x", default: "y" }).presence).toBe("defaulted");
  });

  test.each([
    ["a port", () => setting.port({ help: "Port of it", default: "http" })],
    ["a choice", () => setting.choice("a", "b")({ help: "Port of it", default: "c" })],
    ["an integer", () => setting.integer(1, 5)({ help: "Port of it", default: "6" })],
    ["a text", () => setting.text({ help: "Port of it", default: "" })],
  ])("that is %s cannot be declared with a default of another kind", (_name, declare) => {
    expect(declare).toThrow(TypeError);
    expect(declare).toThrow("Port of it");
  });

  test("is read as a value of its kind", () => {
    const table = {
      text: setting.text({ help: "x" }),
      flag: setting.boolean({ help: "x", default: "false" }),
      wait: setting.duration({ help: "x", default: "1m" }),
      size: setting.bytes({ help: "x", default: "1Ki" }),
      url: setting.url({ help: "x", optional: true }),
      names: setting.list({ help: "x", default: "a,b" }),
      count: setting.integer(0, 9)({ help: "x", default: "3" }),
      level: setting.choice("low", "high")({ help: "x", default: "low" }),
    };
    const reading = readSettings(table, [{ name: "text", text: "t" }], {});
    if (!reading.ok) throw new Error(reading.faults.join());
    const settings: SettingsOf<typeof table> = reading.settings;
    const url: URL | undefined = settings.url;
    const level: "low" | "high" = settings.level;
    expect({ ...settings, url, level }).toEqual({
      text: "t",
      flag: false,
      wait: 60_000,
      size: 1024,
      url: undefined,
      names: ["a", "b"],
      count: 3,
      level: "low",
    });
  });
});
