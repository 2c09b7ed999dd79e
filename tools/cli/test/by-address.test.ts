import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Ballast } from "./ballast.ts";
import { evenkeel } from "./evenkeel.ts";
import { EvenkeelProcess } from "./evenkeel-process.ts";

const withBallast = { ballast: true } as const;

/** A port that nobody listens on. */
const NOBODY = "http://127.0.0.1:1";

interface Line {
  readonly id: string;
  readonly at: string;
  readonly reason: string;
  readonly before: unknown;
}

let ballast: Ballast;
let address: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cli-"));
  ballast = await Ballast.start();
  address = await ballast.address();
});

afterAll(async () => {
  await ballast[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const asked = (...args: string[]) => evenkeel([...args, `--address=${address}`]);
const askedJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await asked(...args, "-o", "json");
  return { code, stderr, json: JSON.parse(stdout) as Record<string, unknown> };
};

describe("status", () => {
  test("shows the service and its objects in two tables without colour, and exits 0", async () => {
    const { code, stdout, stderr } = await asked("status");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/^SERVICE +STATE +VERSION +LEADER +UP +MESSAGE$/);
    expect(lines[1]).toMatch(/^ballast +ready +0\.1\.0 +- +\d+s +-$/);
    expect(lines[3]).toMatch(/^OBJECT +SERVICE +REASON +BEFORE +AFTER +AGE +MESSAGE$/);
    expect(lines[4]).toMatch(/^Tank\/main +ballast +WithinTolerance +50 +50 +\d+s +Level 50 is within 5 of 50$/);
    expect(stdout).not.toContain("\u001b");
  });

  test("gives programs the same as JSON", async () => {
    const { code, json } = await askedJson("status");
    expect(code).toBe(0);
    expect(json).toMatchObject({
      services: [{ service: "ballast", place: address, state: "ready", version: "0.1.0", leader: null, message: "" }],
      objects: [{ service: "ballast", object: "Tank/main", reason: "WithinTolerance", before: 50, after: 50 }],
    });
  });

  test("says of a service that is down that it is, shows the others, and exits 1", async () => {
    const { code, stdout } = await asked("status", `--address=${NOBODY}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:1 +down +- +- +- +EK_CLI_UNANSWERED: .*ECONNREFUSED/m);
    expect(stdout).toMatch(/^ballast +ready/m);
    expect(stdout).toMatch(/^Tank\/main/m);
  });

  test("says so when something else answers there", async () => {
    const harbour = await ballast.service.url("harbour", "");
    const { code, stdout } = await evenkeel(["status", `--address=${harbour}`]);
    expect(code).toBe(1);
    expect(stdout).toContain("EK_RUNTIME_NO_SUCH_PATH");
  });

  test("waits for a service no longer than it is told", async () => {
    const harbour = await ballast.service.url("harbour", "/hold?milliseconds=60000&x=");
    const { code, stdout } = await evenkeel(["status", `--address=${harbour.replace("?", "%3F")}`, "--deadline=200ms"]);
    expect(code).toBe(1);
    expect(stdout).toContain("EK_CLI_");
  });

  test("of another namespace has no objects", async () => {
    const { code, stdout } = await asked("status", "-n", "elsewhere");
    expect(code).toBe(0);
    expect(stdout).toContain("No objects.");
  });
});

describe("a token", () => {
  test("is sent to the address, from a file", async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const file = join(folder, "token");
    await writeFile(file, "secret\n");
    const { stdout } = await evenkeel(["status", `--address=http://127.0.0.1:${port}`, `--token-file=${file}`]);
    server.close();
    expect(stdout).toContain("EK_CLI_REFUSED");
    expect(seen).toEqual(["Bearer secret"]);
  });

  test.each([
    ["in plaintext over a network", "http://192.0.2.1:8080", "token"],
    ["from a file that is not there", "https://192.0.2.1:8080", "absent"],
  ])("is not sent %s", async (_how, place, file) => {
    const args = ["status", `--address=${place}`, `--token-file=${join(folder, file)}`];
    const { code, stderr } = await evenkeel(args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("EK_CLI_WRONG_USAGE") });
  });
});

describe("explain", () => {
  test("says in sentences why an object stands as it does, what was before, and where the evidence is", async () => {
    const { code, stdout } = await asked("explain", "Tank/main");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Tank\/main \(ballast\)$/m);
    expect(stdout).toMatch(/^ {2}Its value stays 50, decided \d+s ago, at \d{4}-.*Z\.$/m);
    expect(stdout).toMatch(/^ {2}WithinTolerance: Level 50 is within 5 of 50\.$/m);
    expect(stdout).toMatch(/^ *\d+s +fill +BelowTarget +Level 30 is below 50 by more than 5; pumping to 50$/m);
    expect(stdout).toMatch(/kubectl evenkeel snapshot [0-9a-f]{16}$/m);
  });

  test("knows a registered kind in lower case and what its value is called", async () => {
    const { code, stdout } = await evenkeel(["explain", "tank", "main", `--address=${address}`], withBallast);
    expect(code).toBe(0);
    expect(stdout).toContain("The level stays 50, decided");
  });

  test("exits 1 with one line if nothing was decided about it", async () => {
    expect(await asked("explain", "Tank/aft")).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^kubectl evenkeel: EK_CLI_NOTHING_KNOWN: .*Tank\/aft.*ballast.*\n$/),
    });
  });

  test("exits 1 and says who does not answer if nobody does", async () => {
    const { code, stderr } = await evenkeel(["explain", "Tank/main", `--address=${NOBODY}`]);
    expect(code).toBe(1);
    expect(stderr).toContain("EK_CLI_UNANSWERED");
    expect(stderr).toContain("EK_CLI_NOTHING_REACHED");
  });
});

describe("decisions", () => {
  test("are listed, the newest first, by reason, by object and in number", async () => {
    const { code, json } = await askedJson("decisions");
    expect(code).toBe(0);
    const reasons = (json["decisions"] as Line[]).map(({ reason }) => reason);
    expect(reasons).toEqual(["WithinTolerance", "BelowTarget"]);
    const only = async (...args: string[]) =>
      ((await askedJson("decisions", ...args)).json["decisions"] as Line[]).map(({ reason }) => reason);
    expect(await only("--reason=BelowTarget")).toEqual(["BelowTarget"]);
    expect(await only("--action=hold")).toEqual(["WithinTolerance"]);
    expect(await only("--object=Tank/aft")).toEqual([]);
    expect(await only("--limit=1")).toEqual(["WithinTolerance"]);
  });

  test("are listed with the ids that snapshot takes", async () => {
    const { stdout } = await asked("decisions");
    expect(stdout).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +ballast +Tank\/main +fill +BelowTarget +30 +50 +[0-9a-f]{16} /m,
    );
  });

  test("of the services that answer are listed with exit code 1 if one does not", async () => {
    const { code, stdout, stderr } = await asked("decisions", `--address=${NOBODY}`);
    expect(code).toBe(1);
    expect(stdout).toContain("BelowTarget");
    expect(stderr).toContain("EK_CLI_UNANSWERED");
  });
});

describe("following decisions", () => {
  test("shows them as they are made, in their order, through a crash of the service; Ctrl-C exits 0", async () => {
    const state = `--state=sqlite:${join(folder, "follow.db")}`;
    const first = await Ballast.start(state);
    const place = await first.address();
    await using following = new EvenkeelProcess(["decisions", "-f", "-o", "json", `--address=${place}`]);
    const lines = () =>
      following.stdout
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    const befores = () => lines().map(({ before }) => before);
    await following.until(() => lines().length === 2);
    await first.setLevel(80);
    await following.until(() => befores().includes(80));
    await first[Symbol.asyncDispose]();
    await following.until(({ stderr }) => stderr.includes("retrying in"));

    // Made while nobody listened, by another process on the same port.
    await using second = await Ballast.start(state, `--admin-port=${new URL(place).port}`);
    await second.address();
    await following.until(({ stderr }) => stderr.includes("connected again"));
    await second.setLevel(10);
    await following.until(() => befores().includes(10));

    following.signal("SIGINT");
    const { code, stderr } = await following.ended;
    expect(code).toBe(0);
    expect(stderr.match(/retrying in/g)).toHaveLength(1);
    expect(new Set(lines().map(({ id }) => id)).size).toBe(lines().length);
    const times = lines().map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(
      lines()
        .filter(({ reason }) => reason !== "WithinTolerance")
        .map(({ before }) => before),
    ).toEqual([30, 80, 30, 10]);
  });

  test("ends quietly when the reader has enough", async () => {
    const main = join(import.meta.dirname, "../src/main.ts");
    const script = `set -o pipefail; "$0" "$1" decisions -f --address="$2" | head -n 1`;
    const shell = spawn("bash", ["-c", script, process.execPath, main, address]);
    let stderr = "";
    shell.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const closed = once(shell, "close");
    // A program learns that nobody reads any more when it has more to say.
    await eventually(async () => {
      await ballast.setLevel(75);
      return shell.exitCode !== null;
    });
    const [code] = (await closed) as [number];
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("exits 1 if no service is there to begin with", async () => {
    const { code, stderr } = await evenkeel(["decisions", "-f", `--address=${NOBODY}`]);
    expect(code).toBe(1);
    expect(stderr).toContain("EK_CLI_NOTHING_REACHED");
  });
});

describe("snapshot and replay", () => {
  const newest = async () => ((await askedJson("decisions", "--limit=1")).json["decisions"] as Line[])[0]?.id ?? "";
  const replay = (file: string, input?: string) =>
    evenkeel(["replay", file], { ...withBallast, ...(input === undefined ? {} : { input }) });

  test("a snapshot is a file that leads to the same decision, and to another one if it is changed", async () => {
    const id = await newest();
    const file = join(folder, "snapshot.json");
    const written = await asked("snapshot", id, "-f", file);
    expect(written).toMatchObject({ code: 0, stderr: "" });
    expect(written.stdout).toContain(`kubectl evenkeel replay ${file}`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const again = await replay(file);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(`is the same as the recorded one (${id})`);

    const recording = JSON.parse(await readFile(file, "utf8")) as { snapshot: { target: number } };
    recording.snapshot.target = 90;
    await writeFile(file, JSON.stringify(recording));
    const other = await replay(file);
    expect(other.code).toBe(1);
    expect(other.stdout).toContain("BelowTarget");
    expect(other.stdout).toContain(`differs from the recorded one (${id})`);
  });

  test("a file that is there is overwritten only by force", async () => {
    const id = await newest();
    const file = join(folder, "precious.json");
    await writeFile(file, "precious");
    expect(await asked("snapshot", id, "-f", file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("EK_CLI_CANNOT_WRITE"),
    });
    expect(await readFile(file, "utf8")).toBe("precious");
    expect(await asked("snapshot", id, "-f", file, "--force")).toMatchObject({ code: 0 });
    expect(await readFile(file, "utf8")).toContain(id);
  });

  test("the file is named after the decision unless told, and a pipe is as good as a file", async () => {
    const id = await newest();
    await using process = new EvenkeelProcess(["snapshot", id, `--address=${address}`], { cwd: folder });
    expect(await process.ended).toMatchObject({ code: 0, stderr: "" });
    const text = await readFile(join(folder, `${id}.json`), "utf8");
    const { stdout } = await asked("snapshot", id, "-f", "-");
    expect(stdout).toBe(text);
    expect(await replay("-", stdout)).toMatchObject({ code: 0, stderr: "" });
  });

  test("a decision that no recorder holds exits 1", async () => {
    const { code, stderr } = await asked("snapshot", "0123456789abcdef");
    expect(code).toBe(1);
    expect(stderr).toContain("EK_CLI_NOTHING_KNOWN");
  });

  test.each([
    ["no JSON", "{"],
    ["something else", '{"kind":"Pod"}'],
    ["another service's", '{"recording":1,"service":"sailor","decision":{},"snapshot":{}}'],
    ["half a recording", '{"recording":1,"service":"ballast"}'],
  ])("a file with %s exits 2", async (_name, text) => {
    const { code, stderr } = await replay("-", text);
    expect(code).toBe(2);
    expect(stderr).toContain("EK_RUNTIME_BAD_RECORDING");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("doctor without a cluster", () => {
  test("looks at the services alone and says that it saw no cluster", async () => {
    const { code, stdout } = await asked("doctor");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warn {2}cluster .*EK_KUBE_NO_CLUSTER/m);
    expect(stdout).toMatch(/^ok {4}services {2}ballast 0\.1\.0 answers at http/m);
    expect(stdout).toMatch(/^ok {4}metrics +.*ballast.* \d+ samples$/m);
    expect(stdout).toMatch(/^ok {4}state +.*ballast/m);
    expect(stdout).toMatch(/^ok {4}versions +.*0\.1\.0/m);
    expect(stdout).toMatch(/^4 passed, 1 warning, 0 failed$/m);
  });

  test("says what to do about a service that does not answer, and exits 1", async () => {
    const { code, stdout } = await evenkeel(["doctor", `--address=${NOBODY}`]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}services .*EK_CLI_UNANSWERED.*\n +→ .*address/m);
  });
});
