import { describe, expect, test } from "@jest/globals";
import { readSettings } from "@evenkeel/runtime";
import { parseAddress, showAddress, tryAddress } from "./address.ts";
import { stateSettings } from "./settings.ts";

describe("addresses", () => {
  test.each([
    ["sqlite::memory:", { home: "sqlite", file: ":memory:" }],
    ["sqlite:/var/lib/evenkeel/state.db", { home: "sqlite", file: "/var/lib/evenkeel/state.db" }],
    ["redis://redis", { home: "redis", tls: false, host: "redis", port: 6379, db: 0 }],
    ["redis://redis:7000/3", { home: "redis", tls: false, host: "redis", port: 7000, db: 3 }],
    ["redis://redis/", { home: "redis", tls: false, host: "redis", port: 6379, db: 0 }],
    ["rediss://[fd00::1]:7000", { home: "redis", tls: true, host: "fd00::1", port: 7000, db: 0 }],
    [
      "redis://user:p%40ss%2Fword@redis",
      { home: "redis", tls: false, host: "redis", port: 6379, db: 0, username: "user", password: "p@ss/word" },
    ],
    ["redis://:secret@redis", { home: "redis", tls: false, host: "redis", port: 6379, db: 0, password: "secret" }],
    [
      "redis+sentinel://a,b:26380,[::1]:26381/main",
      {
        home: "sentinel",
        tls: false,
        db: 0,
        master: "main",
        sentinel: {},
        sentinels: [
          { host: "a", port: 26_379 },
          { host: "b", port: 26_380 },
          { host: "::1", port: 26_381 },
        ],
      },
    ],
    [
      "rediss+sentinel://:secret@a/main/2?sentinel-user=s&sentinel-password=t",
      {
        home: "sentinel",
        tls: true,
        db: 2,
        master: "main",
        password: "secret",
        sentinel: { username: "s", password: "t" },
        sentinels: [{ host: "a", port: 26_379 }],
      },
    ],
  ])("%s is understood", (text, expected) => {
    expect(parseAddress(text)).toEqual(expected);
  });

  test.each([
    "",
    "sqlite:",
    "redis",
    "redis://",
    "redis://a b",
    "redis://a:0",
    "redis://a:65536",
    "redis://a,b",
    "redis://a/x",
    "redis://a/0/1",
    "redis://a?db=1",
    "redis://%zz:x@a",
    "redis+sentinel://a",
    "redis+sentinel://a/",
    "redis+sentinel://a,,b/main",
    "redis+sentinel://a/main/x",
    "redis+sentinel://a/main?other=1",
    "http://a",
    "postgres://a",
  ])("%j is refused", (text) => {
    expect(tryAddress(text)).toBeUndefined();
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: "EK_STATE_BAD_ADDRESS" }));
  });

  test.each([
    ["redis://user:secret@redis", "redis://redis:6379/0"],
    ["rediss://:secret@[::1]/1", "rediss://[::1]:6379/1"],
    ["redis+sentinel://:secret@a,b/main?sentinel-password=secret", "redis+sentinel://a:26379,b:26379/main/0"],
    ["sqlite:state.db", "sqlite:state.db"],
  ])("%s is shown without its secrets", (text, shown) => {
    expect(showAddress(parseAddress(text))).toBe(shown);
  });
});

describe("settings", () => {
  test("the state is embedded and in memory unless told otherwise", () => {
    const reading = readSettings(stateSettings, [], {});
    expect(reading).toMatchObject({ ok: true, settings: { state: "sqlite::memory:", stateDeadline: 2000 } });
  });

  test("EVENKEEL_STATE names the home", () => {
    const reading = readSettings(stateSettings, [], {
      EVENKEEL_STATE: "redis://redis",
      EVENKEEL_STATE_DEADLINE: "500ms",
    });
    expect(reading).toMatchObject({ ok: true, settings: { state: "redis://redis", stateDeadline: 500 } });
  });

  test("an address that cannot be meant stops the start, without showing its password", () => {
    const reading = readSettings(stateSettings, [], { EVENKEEL_STATE: "redis//:secret@redis" });
    expect(reading).toMatchObject({
      ok: false,
      faults: [expect.stringMatching(/EVENKEEL_STATE.*is not one of sqlite:/)],
    });
    expect(JSON.stringify(reading)).not.toContain("secret");
  });
});
