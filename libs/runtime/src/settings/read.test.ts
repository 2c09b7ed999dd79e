import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Environment, readSettings, splitCommandLine } from "./read.ts";
import { setting } from "./table.ts";

const table = {
  dryRun: setting.boolean({ default: "false", help: "Change nothing", aliases: ["read-only"] }),
  port: setting.port({ default: "8080", help: "Port" }),
  interval: setting.duration({
    default: "30s",
    help: "How often",
    env: ["SYNC_INTERVAL", "INTERVAL"],
    aliases: ["sync"],
  }),
  hosts: setting.list({ default: "a", help: "Hosts" }),
  offset: setting.integer(-10, 10)({ default: "0", help: "Offset" }),
  source: setting.url({ optional: true, help: "Where from" }),
  password: setting.text({ optional: true, secret: true, help: "Password", env: ["REDIS_PASSWORD"] }),
};

/** Reads as a main does. */
function read(args: readonly string[], env: Environment = {}) {
  return readSettings(table, splitCommandLine(table, args).flags, env);
}

function settings(args: readonly string[], env: Environment = {}) {
  const reading = read(args, env);
  if (!reading.ok) throw new Error(reading.faults.join("\n"));
  return reading;
}

function faults(args: readonly string[], env: Environment = {}): readonly string[] {
  const reading = read(args, env);
  return reading.ok ? [] : reading.faults;
}

describe("a command line", () => {
  test.each([
    [["--port=1"], "port", 1],
    [["--port", "1"], "port", 1],
    [["-port=1"], "port", 1],
    [["-port", "1"], "port", 1],
    [["--dry-run"], "dryRun", true],
    [["-dry-run"], "dryRun", true],
    [["--dry-run=true"], "dryRun", true],
    [["--dry-run=false"], "dryRun", false],
    [["--no-dry-run"], "dryRun", false],
    [["--read-only"], "dryRun", true],
    [["--no-read-only"], "dryRun", false],
    [["--sync", "1m"], "interval", 60_000],
    [["--offset", "-5"], "offset", -5],
    [["--offset=-5"], "offset", -5],
    [["--hosts=a=b,c"], "hosts", ["a=b", "c"]],
    [["--hosts="], "hosts", []],
    [["--password", "-hunter2"], "password", "-hunter2"],
    [["--password=--dry-run"], "password", "--dry-run"],
    [["--password=two\nlines"], "password", "two\nlines"],
  ] as const)("of %j sets %s to %j", (args, key, value) => {
    expect(settings(args).settings[key]).toEqual(value);
  });

  test("keeps the words between the flags, and takes none of them for a boolean's value", () => {
    expect(splitCommandLine(table, ["replay", "--dry-run", "file", "--port", "1", "-", "--help", "x"])).toEqual({
      words: ["replay", "file", "-", "x"],
      flags: [
        { name: "dry-run", text: "true" },
        { name: "port", text: "1" },
        { name: "help", text: "true" },
      ],
    });
  });

  test("has no flags after two dashes", () => {
    expect(splitCommandLine(table, ["--dry-run", "--", "--port", "-h"])).toEqual({
      words: ["--port", "-h"],
      flags: [{ name: "dry-run", text: "true" }],
    });
  });

  test("takes the same value twice, also under another name", () => {
    expect(settings(["--interval=1m", "--sync=1m"]).settings.interval).toBe(60_000);
  });

  test("joins the lists that it repeats", () => {
    expect(settings(["--hosts=a,b", "--hosts", "c"]).settings.hosts).toEqual(["a", "b", "c"]);
  });
});

describe("a value", () => {
  test.each([
    ["the default", [], {}, 30_000, "default"],
    ["its own variable", [], { EVENKEEL_INTERVAL: "1m" }, 60_000, "$EVENKEEL_INTERVAL"],
    ["a variable of the original project", [], { INTERVAL: "2m" }, 120_000, "$INTERVAL"],
    ["several variables that agree", [], { INTERVAL: "2m", SYNC_INTERVAL: "2m" }, 120_000, "$SYNC_INTERVAL"],
    ["the default, as the variable is empty", [], { EVENKEEL_INTERVAL: "" }, 30_000, "default"],
    ["another variable, as the first is empty", [], { EVENKEEL_INTERVAL: "", INTERVAL: "2m" }, 120_000, "$INTERVAL"],
    ["the flag, whatever the variables say", ["--interval=3m"], { EVENKEEL_INTERVAL: "1m" }, 180_000, "--interval"],
    [
      "the flag, although the variables are wrong",
      ["--sync=3m"],
      { EVENKEEL_INTERVAL: "x", INTERVAL: "y" },
      180_000,
      "--sync",
    ],
  ] as const)("comes from %s", (_name, args, env, value, source) => {
    const reading = settings(args, env);
    expect([reading.settings.interval, reading.sources["interval"]]).toEqual([value, source]);
  });

  test("that nobody gave is undefined and unset", () => {
    const { settings: values, sources } = settings([]);
    expect([values.source, sources["source"]]).toEqual([undefined, "unset"]);
  });
});

describe("a fault", () => {
  test.each([
    ["a value of another kind", ["--port=http"], {}, '--port: "http" is not a port from 0 to 65535'],
    [
      "a variable of another kind",
      [],
      { SYNC_INTERVAL: "30" },
      '$SYNC_INTERVAL: "30" is not a duration such as 250ms, 30s or 1h30m',
    ],
    ["an empty value", ["--port="], {}, '--port: "" is not a port from 0 to 65535'],
    ["a word that every object knows", ["--dry-run=constructor"], {}, '--dry-run: "constructor" is not true or false'],
    ["a missing value at the end", ["--port"], {}, "--port: a value is missing; it takes a port from 0 to 65535"],
    [
      "a missing value before a flag",
      ["--port", "--dry-run"],
      {},
      "--port: a value is missing; it takes a port from 0 to 65535",
    ],
    ["a missing value of a secret", ["--password", "--dry-run"], {}, "--password: a value is missing; it takes a text"],
    ["different values", ["--port=1", "--port=2"], {}, "--port: given 2 times with different values"],
    [
      "different values under two names",
      ["--interval=1s", "--sync=2s"],
      {},
      "--sync: given 2 times with different values",
    ],
    [
      "different variables",
      [],
      { INTERVAL: "1s", SYNC_INTERVAL: "2s" },
      "SYNC_INTERVAL and INTERVAL are set to different values; keep one",
    ],
    ["an unknown flag", ["--frobnicate"], {}, "--frobnicate: unknown flag; --help lists them"],
    ["a slip of the finger", ["--prot=1"], {}, "--prot: unknown flag; did you mean --port?"],
    ["a slip in an alias", ["--read-onyl"], {}, "--read-onyl: unknown flag; did you mean --read-only?"],
    ["a negation of what is no boolean", ["--no-port"], {}, "--no-port: unknown flag; --help lists them"],
    ["nothing but dashes", ["---"], {}, "---: unknown flag; --help lists them"],
  ])("is found in %s", (_name, args, env, fault) => {
    expect(faults(args, env)).toEqual([fault]);
  });

  test("suggests the nearest flag, not the first that is near", () => {
    const siblings = {
      weightA: setting.text({ optional: true, help: "x" }),
      weightB: setting.text({ optional: true, help: "x" }),
    };
    const reading = readSettings(siblings, [{ name: "weight-bb", text: "1" }], {});
    expect(reading).toEqual({ ok: false, faults: ["--weight-bb: unknown flag; did you mean --weight-b?"] });
  });

  test("does not hide the others", () => {
    expect(faults(["--port=x", "--interval=y", "--nope", "--offset=99"], { EVENKEEL_SOURCE: "z" })).toEqual([
      "--nope: unknown flag; --help lists them",
      '--port: "x" is not a port from 0 to 65535',
      '--interval: "y" is not a duration such as 250ms, 30s or 1h30m',
      '--offset: "99" is not a whole number from -10 to 10',
      '$EVENKEEL_SOURCE: "z" is not an http:// or https:// URL',
    ]);
  });

  test("is one line, however long and odd the value is", () => {
    const [fault, ...others] = faults([`--port=${"x\n".repeat(1000)}`]);
    expect(others).toEqual([]);
    expect(fault?.length).toBeLessThan(250);
    expect(fault).not.toContain("\n");
  });

  test("of a URL does not show its password, however long it is", () => {
    for (const url of ["ftp://user:hunter2@host", `ftp://u:hunter2${"x".repeat(200)}@host`, "htp//u:hunter2@host"]) {
      expect(faults([`--source=${url}`])).toHaveLength(1);
      expect(faults([`--source=${url}`]).join()).not.toContain("hunter2");
    }
  });
});

describe("a required setting", () => {
  const required = {
    token: setting.text({ help: "Token of the API", env: ["API_TOKEN"], aliases: ["api-token"], secret: true }),
  };
  const complaint = "--token (or EVENKEEL_TOKEN, API_TOKEN) is required: Token of the API";

  test.each([
    ["it is absent", [], {}, [complaint]],
    ["its variable is empty", [], { API_TOKEN: "" }, [complaint]],
    ["its value is missing", ["--token"], {}, ["--token: a value is missing; it takes a text"]],
    [
      "its value is missing after another name",
      ["--api-token"],
      {},
      ["--api-token: a value is missing; it takes a text"],
    ],
    ["it is given", ["--token=x"], {}, []],
    ["its variable is given", [], { API_TOKEN: "x" }, []],
  ])("is asked for once when %s", (_name, args, env, expected) => {
    const reading = readSettings(required, splitCommandLine(required, args).flags, env);
    expect(reading.ok ? [] : reading.faults).toEqual(expected);
  });
});

describe("a secret", () => {
  const secrets = {
    pin: setting.integer(0, 9999)({ optional: true, secret: true, help: "Pin", env: ["PIN", "CODE"] }),
    key: setting.choice("a", "b")({ optional: true, secret: true, help: "Key" }),
  };

  test.each([
    [["--pin=hunter2"], {}],
    [["--pin", "hunter2"], {}],
    [["--pin", "-hunter2"], {}],
    [["--pin=1", "--pin=hunter2"], {}],
    [[], { PIN: "hunter2" }],
    [[], { PIN: "hunter2", CODE: "hunter22" }],
    [["--key=hunter2"], {}],
    [["--pni=hunter2"], {}],
    [["--pni", "hunter2"], {}],
  ])("is not repeated by the faults of %j and %j", (args, env) => {
    const reading = readSettings(secrets, splitCommandLine(secrets, args).flags, env);
    expect(reading.ok).toBe(false);
    expect(JSON.stringify(reading)).not.toContain("hunter2");
  });
});

describe("whatever the command line and the environment hold", () => {
  const names = [
    "dry-run",
    "port",
    "interval",
    "sync",
    "hosts",
    "offset",
    "source",
    "password",
    "no-port",
    "zzz",
    "help",
  ];
  const odd = fc.string({ unit: "binary" });
  const arg = fc.oneof(
    odd,
    fc
      .tuple(fc.constantFrom("-", "--", "---", ""), fc.constantFrom(...names), odd)
      .map(([dash, name, text]) => `${dash}${name}=${text}`),
    fc.constantFrom("-", "--", "=", "--=", "--no-", ...names.map((name) => `--${name}`)),
  );
  const env = fc.dictionary(
    fc.constantFrom("EVENKEEL_PORT", "INTERVAL", "SYNC_INTERVAL", "REDIS_PASSWORD", "EVENKEEL_HOSTS"),
    odd,
  );

  test("reading gives settings or faults of one line each, and never throws", () => {
    fc.assert(
      fc.property(fc.array(arg, { maxLength: 8 }), env, (args, variables) => {
        const reading = read(args, variables);
        if (reading.ok) expect(Object.keys(reading.settings).length).toBeLessThanOrEqual(Object.keys(table).length);
        else {
          expect(reading.faults.length).toBeGreaterThan(0);
          for (const fault of reading.faults) expect(fault).not.toMatch(/[\r\n]/);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("every argument ends up as a word, a flag or a flag's value", () => {
    fc.assert(
      fc.property(fc.array(arg, { maxLength: 8 }), (args) => {
        const { words, flags } = splitCommandLine(table, args);
        expect(words.length + flags.length).toBeLessThanOrEqual(args.length);
        expect(words.length + 2 * flags.length + 1).toBeGreaterThanOrEqual(args.length);
      }),
    );
  });
});
