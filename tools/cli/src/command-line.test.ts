import { describe, expect, test } from "@jest/globals";
import { run } from "./command-line.ts";
import { TestHost } from "./testing/test-host.ts";
import { tankKeeper } from "./testing/tank-registration.ts";

async function evenkeel(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const host = new TestHost(args, env);
  const code = await run(host.host, [tankKeeper]);
  return { code, out: host.out, err: host.err, listeners: host.listenerCount("SIGINT") };
}

const verbs = ["status", "explain", "what-if", "decisions", "snapshot", "replay", "doctor"];
const wrong = (line: string) => `kubectl evenkeel: EK_CLI_WRONG_USAGE: ${line}\n`;

describe("help", () => {
  test.each([[[]], [["--help"]], [["-h"]], [["help"]]])("of %p lists every verb and the exit codes", async (args) => {
    const { code, out } = await evenkeel(args);
    expect(code).toBe(0);
    for (const verb of verbs) expect(out).toMatch(new RegExp(`^ {2}${verb} `, "m"));
    expect(out).toContain("2  the command line cannot be meant");
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

describe("a command line that cannot be meant exits 2 with one line for each fault", () => {
  test.each([
    [["sail"], wrong(`there is no verb sail; there is ${verbs.join(", ")}`)],
    [["status", "now"], wrong("status is used as: kubectl evenkeel status")],
    [
      ["explain"],
      wrong(
        "explain is used as: kubectl evenkeel explain <kind>/<namespace>/<name>; kubectl evenkeel explain <kind> <namespace>/<name>",
      ),
    ],
    [["explain", "tank/fore"], wrong("Tank fore needs its namespace: tank/<namespace>/fore, or -n")],
    [["what-if", "tank/harbour/fore"], wrong("--rain is needed")],
    [
      ["what-if", "ship/sea/argo", "--rain", "5"],
      wrong("nothing can be supposed about ship/sea/argo, only about: Tank; `explain` says what keeps it as it is"),
    ],
    [["status", "--service", "sailor"], wrong("there is no service sailor; there is tank-keeper")],
    [["snapshot", "XYZ"], wrong("XYZ is no decision's id; `decisions` lists them")],
    [["status", "--print-settings"], wrong("--print-settings: there is no such flag of status")],
    [["--addres=http://a"], wrong(`a verb is missing; there is ${verbs.join(", ")}`)],
    [
      ["replay", "/nowhere/file"],
      wrong("/nowhere/file cannot be read: ENOENT: no such file or directory, open '/nowhere/file'"),
    ],
    [
      ["decisions", "--limit", "0", "--adress=http://a", "-o", "yaml"],
      wrong("--adress: there is no such flag; did you mean --address?") +
        wrong('--o: "yaml" is not one of table, json') +
        wrong('--limit: "0" is not a whole number from 1 to 1000'),
    ],
  ])("%p", async (args, err) => {
    expect(await evenkeel(args)).toEqual({ code: 2, out: "", err, listeners: 0 });
  });
});

describe("settings", () => {
  test("come from variables too, and those of single verbs do not", async () => {
    const { code, err } = await evenkeel(["status"], { EVENKEEL_ADDRESS: "nowhere", EVENKEEL_NAMESPACE: "x" });
    expect(code).toBe(2);
    expect(err).toBe(
      wrong('$EVENKEEL_ADDRESS: "nowhere" is not an address such as http://127.0.0.1:8080, or several with commas'),
    );
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
