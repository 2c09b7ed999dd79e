import { describe, expect, test } from "@jest/globals";
import { run } from "./command-line.ts";
import { TestHost } from "./testing/test-host.ts";
import { tankKeeper } from "./testing/tank-registration.ts";

async function evenkeel(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const host = new TestHost(args, env);
  const code = await run(host.host, [tankKeeper], import.meta.url);
  return { code, out: host.out, err: host.err, listeners: host.listenerCount("SIGINT") };
}

const verbs = ["status", "explain", "what-if", "decisions", "snapshot", "replay", "doctor"];

describe("help", () => {
  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("of %p lists every verb and the exit codes", async (args) => {
    const { code, out } = await evenkeel(args);
    expect(code).toBe(0);
    for (const verb of verbs) expect(out).toMatch(new RegExp(`^ {2}${verb} `, "m"));
    for (const exitCode of [0, 1, 2]) expect(out).toMatch(new RegExp(`^ {2}${exitCode} `, "m"));
  });

  test.each(verbs)("of %s says how it is used and lists its flags", async (verb) => {
    const asked = await evenkeel([verb, "--help"]);
    expect(asked).toMatchObject({ code: 0, err: "" });
    expect(asked.out).toContain(`kubectl evenkeel ${verb}`);
    expect(asked.out).toContain("-o, --output <table|json>");
    expect(await evenkeel(["help", verb])).toEqual(asked);
  });

  test("of what-if has the flags that services registered", async () => {
    const { out } = await evenkeel(["what-if", "--help"]);
    expect(out).toContain("--rain <number>");
    expect(out).toContain("kubectl evenkeel what-if tank/<namespace>/<name>");
  });
});

test("--version prints the version", async () => {
  expect(await evenkeel(["--version"])).toMatchObject({ code: 0, out: "kubectl evenkeel 0.1.0\n" });
});

describe("invalid usage exits 2 with one line for each fault, which names the word or flag", () => {
  test.each([
    [["sail"], [["sail", ...verbs]]],
    [["status", "now"], [["kubectl evenkeel status"]]],
    [["explain"], [["explain <kind>/<namespace>/<name>", "explain <kind> <namespace>/<name>"]]],
    [["explain", "tank/fore"], [["Tank", "tank/<namespace>/fore", "-n"]]],
    [["what-if", "tank/harbour/fore"], [["--rain"]]],
    [["what-if", "ship/sea/argo", "--rain", "5"], [["ship/sea/argo", "Tank", "explain"]]],
    [["status", "--service", "sailor"], [["sailor", "tank-keeper"]]],
    [["snapshot", "XYZ"], [["XYZ", "decisions"]]],
    [["status", "--print-settings"], [["--print-settings", "status"]]],
    [["--addres=http://a"], [verbs]],
    [["replay", "/nowhere/file"], [["/nowhere/file", "ENOENT"]]],
    [
      ["decisions", "--limit", "0", "--adress=http://a", "-o", "yaml"],
      [
        ["--adress", "--address"],
        ['"yaml"', "table", "json"],
        ["--limit", '"0"', "1000"],
      ],
    ],
  ])("%p", async (args, faults) => {
    const { code, out, err, listeners } = await evenkeel(args);
    expect({ code, out, listeners }).toEqual({ code: 2, out: "", listeners: 0 });
    const lines = err.trimEnd().split("\n");
    expect(lines).toHaveLength(faults.length);
    for (const [index, words] of faults.entries()) {
      expect(lines[index]).toMatch(/^kubectl evenkeel: EK_CLI_WRONG_USAGE: /);
      for (const word of words) expect(lines[index]).toContain(word);
    }
  });
});

describe("settings", () => {
  test("come from variables too, and those of single verbs do not", async () => {
    const { code, err } = await evenkeel(["status"], { EVENKEEL_ADDRESS: "nowhere", EVENKEEL_NAMESPACE: "x" });
    expect(code).toBe(2);
    expect(err).toMatch(/^kubectl evenkeel: EK_CLI_WRONG_USAGE: \$EVENKEEL_ADDRESS: "nowhere" .*\n$/);
  });

  test("that all verbs have may stand before the verb", async () => {
    const { code, out } = await evenkeel(["-o", "json", "--address", "http://127.0.0.1:1", "status"]);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      services: [{ service: "http://127.0.0.1:1", state: "down" }],
      objects: [],
    });
  });
});
