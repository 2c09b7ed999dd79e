import { describe, expect, test } from "@jest/globals";
import { readSettings, splitCommandLine } from "./read.ts";
import { durationText, helpText, settingLines, settingsMarkdown, showSettings } from "./show.ts";
import { setting } from "./table.ts";

const table = {
  dryRun: setting.boolean({ default: "false", help: "Change nothing" }),
  interval: setting.duration({ default: "90s", help: "How often", env: ["SYNC_INTERVAL"], aliases: ["sync"] }),
  level: setting.choice("low", "high")({ default: "low", help: "How loud" }),
  source: setting.url({ help: "Where from" }),
  peers: setting.list({ optional: true, help: "Whom to tell" }),
  state: setting.text({ optional: true, help: "Where to keep it" }),
  password: setting.text({ optional: true, secret: true, help: "Password of the store", env: ["REDIS_PASSWORD"] }),
};

function shown(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const reading = readSettings(table, splitCommandLine(table, args).flags, env);
  if (!reading.ok) throw new Error(reading.faults.join("\n"));
  return showSettings(table, reading.settings, reading.sources);
}

test.each([
  [0, "0s"],
  [250, "250ms"],
  [1000, "1s"],
  [90_000, "1m30s"],
  [5_400_000, "1h30m"],
  [86_400_000, "24h"],
  [3_661_001, "1h1m1s1ms"],
  [0.5, "0.5ms"],
  [1000.1, "1s0.1ms"],
])("%d ms are written as %s", (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

describe("settings that are shown", () => {
  test("say what was given and where", () => {
    expect(shown(["--source=http://a", "--peers=b,c"], { SYNC_INTERVAL: "1h" })).toEqual([
      { name: "dry-run", value: "false", source: "default" },
      { name: "interval", value: "1h", source: "$SYNC_INTERVAL" },
      { name: "level", value: "low", source: "default" },
      { name: "source", value: "http://a/", source: "--source" },
      { name: "peers", value: "b,c", source: "--peers" },
      { name: "state", value: "", source: "unset" },
      { name: "password", value: "", source: "unset" },
    ]);
  });

  test("hide secrets, and passwords in whatever holds a URL", () => {
    const lines = settingLines(
      shown(
        [
          "--source=https://user:hunter2@a",
          "--peers=http://b,http://u:hunter2@c/d,http://e:hunter2@f",
          "--state=redis://:hun@hunter2@redis:6379/0",
        ],
        { REDIS_PASSWORD: "hunter2" },
      ),
    );
    expect(lines).not.toContain("hunter2");
    expect(lines).toContain("source    https://user:********@a/  (--source)\n");
    expect(lines).toContain("peers     http://b,http://u:********@c/d,http://e:********@f  (--peers)\n");
    expect(lines).toContain("state     redis://:********@redis:6379/0  (--state)\n");
    expect(lines).toContain("password  ********  ($REDIS_PASSWORD)\n");
  });

  test("are one line each", () => {
    const lines = settingLines(shown(["--source=http://a", "--state=two\nlines"]));
    expect(lines.split("\n")).toHaveLength(Object.keys(table).length + 1);
  });

  test("may be none", () => {
    expect(settingLines([])).toBe("");
  });
});

test("the help says all there is to a setting", () => {
  expect(helpText({ name: "sample", summary: "Does samples" }, table, { "replay <file>": "Decides again" })).toBe(
    `sample: Does samples

Usage:
  sample [flags]
  sample replay <file>
      Decides again

Flags:
  --dry-run
      Change nothing
      EVENKEEL_DRY_RUN; default false
  --interval <duration>
      How often
      EVENKEEL_INTERVAL, SYNC_INTERVAL; --sync; default 90s
  --level <low|high>
      How loud
      EVENKEEL_LEVEL; default low
  --source <url>
      Where from
      EVENKEEL_SOURCE; required
  --peers <list>
      Whom to tell
      EVENKEEL_PEERS; optional
  --state <text>
      Where to keep it
      EVENKEEL_STATE; optional
  --password <text>
      Password of the store
      EVENKEEL_PASSWORD, REDIS_PASSWORD; optional; secret

  --print-settings
      Prints every setting, its value and where it came from, and exits
  --version
      Prints the version and exits
  --help
      Prints this and exits
`,
  );
});

test("the reference has a row a setting", () => {
  expect(settingsMarkdown(table)).toBe(`| flag | variable | type | default | what it does |
|---|---|---|---|---|
| \`--dry-run\` | \`EVENKEEL_DRY_RUN\` | boolean | \`false\` | Change nothing |
| \`--interval\`<br>\`--sync\` | \`EVENKEEL_INTERVAL\`<br>\`SYNC_INTERVAL\` | duration | \`90s\` | How often |
| \`--level\` | \`EVENKEEL_LEVEL\` | low\\|high | \`low\` | How loud |
| \`--source\` | \`EVENKEEL_SOURCE\` | url | required | Where from |
| \`--peers\` | \`EVENKEEL_PEERS\` | list | optional | Whom to tell |
| \`--state\` | \`EVENKEEL_STATE\` | text | optional | Where to keep it |
| \`--password\` | \`EVENKEEL_PASSWORD\`<br>\`REDIS_PASSWORD\` | text | optional | Password of the store (secret) |
`);
});

test("a row of the reference has its columns, whatever the texts hold", () => {
  const odd = { mode: setting.text({ default: "a|b", help: "One of a|b" }) };
  const row = settingsMarkdown(odd).split("\n")[2];
  expect(row?.split(/(?<!\\)\|/)).toHaveLength(7);
});

test("neither help nor reference repeats the default of a secret", () => {
  const secret = { key: setting.text({ default: "hunter2", secret: true, help: "Key" }) };
  expect(helpText({ name: "sample", summary: "x" }, secret, {})).not.toContain("hunter2");
  expect(settingsMarkdown(secret)).not.toContain("hunter2");
});
