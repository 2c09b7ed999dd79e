import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MetricTable } from "@evenkeel/metrics";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Decider, Snapshot } from "./decision/index.ts";
import { recordingText } from "./decision/recording.ts";
import { defineError } from "./error.ts";
import { FakeClock } from "./testing/fake-clock.ts";
import { FakeHost } from "./testing/fake-host.ts";
import { main } from "./main.ts";
import type { ServiceDefinition } from "./service.ts";
import { runtimeSettings, setting, type SettingsOf } from "./settings/index.ts";

interface Tank extends Snapshot {
  readonly level: number;
}

const settings = {
  ...runtimeSettings,
  target: setting.integer(0, 100)({ default: "50", help: "Level to keep" }),
  tolerance: setting.integer(0, 100)({ default: "5", help: "How far off is near enough" }),
  token: setting.text({ optional: true, secret: true, help: "Token of the radio" }),
};

const decider = {
  actions: ["hold", "pump"],
  reasons: ["Low", "Level"],
  decide: ({ level }: Tank) => ({
    object: { kind: "Tank", name: "port" },
    action: level < 50 ? ("pump" as const) : ("hold" as const),
    reason: level < 50 ? ("Low" as const) : ("Level" as const),
    before: level,
    after: 50,
    message: `level ${level}`,
  }),
} satisfies Decider<Tank, "hold" | "pump", "Low" | "Level", number>;

const definition: ServiceDefinition<typeof settings, MetricTable, typeof decider> = {
  name: "sample",
  summary: "Keeps a tank level",
  version: "1.2.3",
  settings,
  metrics: {},
  decider,
  contradictions: ({ target, tolerance }: SettingsOf<typeof settings>) => [
    ...(tolerance > target ? ["--tolerance is more than --target; lower it"] : []),
    ...(target === 13 ? ["--target 13 brings bad luck; choose another"] : []),
  ],
};

/** Runs a command line to its end; `composed` says whether it came to putting the service together. */
async function command(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  compose = () => Promise.resolve(),
) {
  const host = new FakeHost(args, env);
  let composed = false;
  await main(definition, host.host, () => {
    composed = true;
    host.emit("composed");
    return compose();
  });
  const { exits, out, err } = host;
  return { exits, out, err, composed };
}

describe("a question", () => {
  test.each([["--help"], ["-help"], ["-h"]])("%s is answered with the usage", async (flag) => {
    const { exits, out, err, composed } = await command([flag, "--target=nonsense", "--bogus", "word"]);
    expect([exits, err, composed]).toEqual([[0], "", false]);
    expect(out).toContain("sample: Keeps a tank level\n");
    expect(out).toContain("sample replay <file>");
    expect(out).toContain("--target <integer>\n      Level to keep\n      EVENKEEL_TARGET; default 50\n");
    expect(out).toContain("--drain-timeout <duration>");
  });

  test("--version is answered with name and version", async () => {
    expect(await command(["--version"])).toEqual({ exits: [0], out: "sample 1.2.3\n", err: "", composed: false });
  });

  test("--print-settings is answered with every setting and where it came from, secrets masked", async () => {
    const { exits, out, err, composed } = await command(["--print-settings", "--target=60", "--token=hunter2"], {
      EVENKEEL_LOG_LEVEL: "warn",
    });
    expect([exits, err, composed]).toEqual([[0], "", false]);
    expect(out.split("\n")).toHaveLength(Object.keys(settings).length + 1);
    expect(out).toMatch(/^target +60 {2}\(--target\)$/m);
    expect(out).toMatch(/^log-level +warn {2}\(\$EVENKEEL_LOG_LEVEL\)$/m);
    expect(out).toMatch(/^token +\*{8} {2}\(--token\)$/m);
    expect(out).not.toContain("hunter2");
  });
});

describe("a command line that cannot be meant", () => {
  const bad = "sample: EK_RUNTIME_BAD_SETTINGS: ";
  const unknown = "sample: EK_RUNTIME_UNKNOWN_VERB: ";
  test.each<[string, readonly string[], readonly string[]]>([
    [
      "all faults at once",
      ["--target=x", "--bogus", "--token"],
      [
        `${bad}--bogus: unknown flag; --help lists them`,
        `${bad}--target: "x" is not a whole number from 0 to 100`,
        `${bad}--token: a value is missing; it takes a text`,
      ],
    ],
    [
      "contradictions, all of them",
      ["--target=13", "--tolerance=20"],
      [`${bad}--tolerance is more than --target; lower it`, `${bad}--target 13 brings bad luck; choose another`],
    ],
    [
      "bad settings that are asked for",
      ["--print-settings", "--target=x"],
      [`${bad}--target: "x" is not a whole number from 0 to 100`],
    ],
    ["a verb that does not exist", ["sail"], [`${unknown}unknown verb sail; --help lists the verbs`]],
    [
      "a verb of several lines",
      ["sail\nsample: all is well"],
      [`${unknown}unknown verb sail sample: all is well; --help lists the verbs`],
    ],
    [
      "a verb without its file",
      ["replay"],
      ["sample: EK_RUNTIME_WRONG_WORDS: wrong arguments for replay; usage: sample replay <file>"],
    ],
    [
      "a verb with too many files",
      ["replay", "a", "b"],
      ["sample: EK_RUNTIME_WRONG_WORDS: wrong arguments for replay; usage: sample replay <file>"],
    ],
  ])("is refused with 2 and one line each: %s", async (_name, args, lines) => {
    expect(await command(args)).toEqual({
      exits: [2],
      out: "",
      err: lines.map((line) => `${line}\n`).join(""),
      composed: false,
    });
  });

  test("does not repeat a secret", async () => {
    for (const args of [["--token=hunter2", "--target=x"], ["--tokn=hunter2"], ["--token", "-hunter2", "--target=x"]]) {
      const { exits, err } = await command(args);
      expect(exits).toEqual([2]);
      expect(err).not.toContain("hunter2");
    }
  });
});

describe("replay", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "replay-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const recording = (level: number, change: object = {}, service = "sample") => {
    const snapshot: Tank = { at: "2026-01-01T00:00:00Z", level };
    const decision = { ...decider.decide(snapshot), id: "c0ffee", at: snapshot.at, dryRun: false, ...change };
    return recordingText(service, "1.0.0", decision, JSON.stringify(snapshot));
  };

  async function replay(text: string) {
    const file = join(folder, "recording.json");
    await writeFile(file, text);
    return command(["replay", file]);
  }

  test("of the same decision prints it and exits 0", async () => {
    const { exits, out, err, composed } = await replay(recording(30));
    expect([exits, err, composed]).toEqual([[0], "", false]);
    expect(out).toContain('"action": "pump"');
    expect(out).toContain("the same decision as recorded (c0ffee)\n");
  });

  test("of another decision prints both and exits 1 with a code", async () => {
    const { exits, out, err } = await replay(recording(30, { action: "hold", reason: "Level" }));
    expect(exits).toEqual([1]);
    expect(out).toContain('"action": "pump"');
    expect(out).toContain("recorded:\n{");
    expect(out).toContain('"action": "hold"');
    expect(err).toMatch(/^sample: EK_RUNTIME_REPLAY_DIFFERS: .*1\.0\.0.*\n$/);
  });

  test("needs none of the settings that a start does", async () => {
    const file = join(folder, "recording.json");
    await writeFile(file, recording(30));
    expect((await command(["replay", file], { EVENKEEL_TARGET: "nonsense" })).exits).toEqual([0]);
  });

  test.each<[string, string, RegExp]>([
    ["no JSON", "{", /it is not JSON/],
    ["no recording", "{}", /it is not a recording of a decision/],
    [
      "a recording without a decision",
      '{"recording":1,"service":"sample","decision":null,"snapshot":null}',
      /not a recording/,
    ],
    ["a recording of another service", recording(30, {}, "other"), /it is "other"'s, and this is sample/],
  ])("of %s exits 2 with a code on one line", async (_name, text, fault) => {
    const { exits, out, err } = await replay(text);
    expect([exits, out]).toEqual([[2], ""]);
    expect(err).toMatch(/^sample: EK_RUNTIME_BAD_RECORDING: [^\n]*\n$/);
    expect(err).toMatch(fault);
  });

  test("of a file that is not there exits 2 with a code", async () => {
    const { exits, err } = await command(["replay", join(folder, "nothing.json")]);
    expect(exits).toEqual([2]);
    expect(err).toMatch(/^sample: EK_RUNTIME_BAD_RECORDING: [^\n]*ENOENT[^\n]*\n$/);
  });
});

describe("putting the service together", () => {
  const Refused = defineError({ code: "EK_TEST_REFUSED", recovery: "terminal", message: "refused", remedy: "Ask." });

  test.each([
    [
      "a code and its cause",
      new Refused({}, { cause: new Error("no\nroute") }),
      "sample: EK_TEST_REFUSED: refused: no route\n",
    ],
    ["a surprise", new TypeError("x is\nundefined"), "sample: EK_RUNTIME_INTERNAL: x is undefined\n"],
  ])("exits 1 on %s, in one line", async (_name, error, line) => {
    expect(await command([], {}, () => Promise.reject(error))).toMatchObject({ exits: [1], out: "", err: line });
  });

  test("comes to a service that runs until its signal and exits 0", async () => {
    const host = new FakeHost(["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0", "--target=60"]);
    let target: number | undefined;
    const done = main(
      definition,
      host.host,
      (service) => {
        target = service.settings.target;
        service.lead("stop soon", ({ signal }) => {
          host.emit("SIGTERM", "SIGTERM");
          return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
        });
      },
      new FakeClock(),
    );
    await done;
    expect([host.exits, target, host.err]).toEqual([[0], 60, ""]);
    expect(host.lines.at(-1)).toMatchObject({ service: "sample", phase: "stopped" });
  });

  test("exits 1 when the service dies", async () => {
    const host = new FakeHost(["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0"]);
    await main(definition, host.host, (service) => service.lead("dies", () => Promise.resolve()), new FakeClock());
    expect(host.exits).toEqual([1]);
    expect(host.lines).toContainEqual(expect.objectContaining({ level: "fatal", code: "EK_RUNTIME_COMPONENT_DIED" }));
  });
});
