import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openedState } from "../src/index.ts";

const unfenced = { expected: "any", fence: "unfenced" } as const;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evenkeel-sqlite-"));
  file = join(folder, "state.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("records, tokens and streams outlive the process; counts end with it", async () => {
  const object = randomUUID();
  const before = await openedState(`sqlite:${file}`);
  const version = await before.state.records.put(object, "value", 1, {
    expected: "any",
    fence: { scope: "leader", token: 5n },
  });
  await before.state.streams.append(object, "log", "entry", 10);
  await before.state.counters.report(object, "a", { held: 1 }, 60_000);
  await before.close();

  const { state, close } = await openedState(`sqlite:${file}`);
  expect(await state.records.get(object, "value")).toEqual({ name: "value", value: 1, version });
  const late = state.records.put(object, "value", 2, { expected: "any", fence: { scope: "leader", token: 4n } });
  await expect(late).rejects.toMatchObject({ code: "EK_STATE_FENCED" });
  expect(await state.streams.newest(object, "log", 10)).toMatchObject([{ text: "entry" }]);
  expect(await state.counters.sum(object)).toEqual({});
  await close();
});

test("no acknowledged write is lost when the process is killed", async () => {
  const object = randomUUID();
  // A process of its own, since it is to die: it says each number once its write is acknowledged.
  const { stdout, signal, stderr } = runApart(`
    for (let i = 0; ; i++) {
      await state.records.put(${JSON.stringify(object)}, "r" + i, i, { expected: "absent", fence: "unfenced" });
      writeSync(1, i + "\\n");
      if (i === 50) process.kill(process.pid, "SIGKILL");
    }`);
  expect({ signal, stderr }).toEqual({ signal: "SIGKILL", stderr: "" });
  const acknowledged = stdout.trim().split("\n").map(Number);
  expect(acknowledged).toHaveLength(51);
  const { state, close } = await openedState(`sqlite:${file}`);
  const kept = new Set((await state.records.list(object)).map(({ value }) => value));
  expect(acknowledged.filter((number) => !kept.has(number))).toEqual([]);
  await close();
});

test("a file that another process has open is refused at the start", async () => {
  const first = await openedState(`sqlite:${file}`);
  await expect(openedState(`sqlite:${file}`)).rejects.toMatchObject({ code: "EK_STATE_FILE_IN_USE" });
  await first.state.records.put(randomUUID(), "value", 1, unfenced);
  await first.close();
  const second = await openedState(`sqlite:${file}`);
  await second.close();
});

test("a file that is no database is refused at the start, and left as it is", async () => {
  writeFileSync(file, "this is somebody's letter, and long enough to be read as a page of a database ".repeat(20));
  await expect(openedState(`sqlite:${file}`)).rejects.toMatchObject({ code: "EK_STATE_BAD_FILE" });
});

test("a file of a later version is refused at the start", async () => {
  const later = new DatabaseSync(file);
  later.exec("PRAGMA user_version = 99");
  later.close();
  await expect(openedState(`sqlite:${file}`)).rejects.toMatchObject({ code: "EK_STATE_BAD_FILE" });
});

test("a path that cannot be written is refused at the start", async () => {
  await expect(openedState(`sqlite:${join(folder, "no", "such", "folder")}`)).rejects.toMatchObject({
    code: "EK_STATE_BAD_FILE",
  });
});

test("a damaged record is an error that names it, and can be overwritten", async () => {
  const object = randomUUID();
  const before = await openedState(`sqlite:${file}`);
  await before.state.records.put(object, "weights", { a: 1 }, unfenced);
  await before.close();
  const raw = new DatabaseSync(file);
  raw.exec("UPDATE records SET value = '{\"a\":'");
  raw.close();

  const { state, close } = await openedState(`sqlite:${file}`);
  const refusal = { code: "EK_STATE_CORRUPT", message: expect.stringContaining(`weights of ${object}`) };
  await expect(state.records.get(object, "weights")).rejects.toMatchObject(refusal);
  await expect(state.records.list(object)).rejects.toMatchObject(refusal);
  await state.records.put(object, "weights", 2, unfenced);
  expect((await state.records.get(object, "weights"))?.value).toBe(2);
  await close();
});

test("a full disk makes writes fail as away, and passes when there is room again", () => {
  const steps = `
    const put = (name) => state.records.put("object", name, "x".repeat(10_000), { expected: "any", fence: "unfenced" });
    const told = [];
    state.onAvailability((available) => told.push(available));
    let refused;
    for (let i = 0; i < 1000 && !refused; i++) await put("r" + i).catch((error) => (refused = error.code));
    const readable = (await state.records.list("object")).length > 0;
    execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited"]);
    await put("after");
    process.stdout.write(JSON.stringify({ refused, readable, told }));`;
  // A limit on the size of files stands in for the disk's: SQLite meets the same failing write.
  const { stdout, stderr } = runApart(steps, ["bash", "-c", 'ulimit -S -f 500 && exec "$@"', "-"]);
  expect({ stderr, ...(JSON.parse(stdout) as object) }).toEqual({
    stderr: "",
    refused: "EK_STATE_UNAVAILABLE",
    readable: true,
    told: [false, true],
  });
});

test("calls before the start and after the stop fail as away", async () => {
  const { state, close } = await openedState("sqlite::memory:");
  await close();
  await expect(state.records.get(randomUUID(), "value")).rejects.toMatchObject({ code: "EK_STATE_UNAVAILABLE" });
});

test("a state in memory says in the log that a restart loses it", async () => {
  const { lines, close } = await openedState("sqlite::memory:");
  expect(lines.join("")).toMatch(/in memory only/);
  await close();
});

test("a Node.js without SQLite runs everything but a state in SQLite, which says what it needs", () => {
  const { stdout, stderr } = runNode(
    `${openStateOf("redis://127.0.0.1:1")}
    const embedded = openState("sqlite::memory:", { ...host, registry: new MetricRegistry() });
    const fault = await Promise.resolve(embedded.start()).catch((error) => error);
    process.stdout.write(JSON.stringify({ available: state.available, code: fault.code, version: fault.message.includes(process.version) }));`,
    { flags: ["--no-experimental-sqlite"] },
  );
  expect({ stderr, ...(JSON.parse(stdout || "{}") as object) }).toEqual({
    stderr: "",
    available: false,
    code: "EK_STATE_NO_SQLITE",
    version: true,
  });
});

/** Runs steps on an open `state` of `file` in a process of its own, under `wrapper` if there is one. */
function runApart(steps: string, wrapper: readonly string[] = []) {
  return runNode(`${openStateOf(`sqlite:${file}`)}\n await state.start();\n ${steps}`, { wrapper });
}

/** The script that makes `state` of an address. */
function openStateOf(address: string): string {
  return `
    import { execFileSync } from "node:child_process";
    import { writeSync } from "node:fs";
    import { MetricRegistry } from "@evenkeel/metrics";
    import { createLogger, systemClock } from "@evenkeel/runtime";
    import { openState } from "@evenkeel/state";
    const log = createLogger({ service: "s", level: "fatal", secrets: [], destination: process.stderr });
    const host = { service: "s", clock: systemClock, log, registry: new MetricRegistry(), deadline: 1000 };
    const state = openState(${JSON.stringify(address)}, host);`;
}

function runNode(
  script: string,
  { flags = [], wrapper = [] }: { flags?: readonly string[]; wrapper?: readonly string[] },
) {
  const node = [process.execPath, ...flags, "--no-warnings", "--input-type=module", "--eval", script];
  const line = [...wrapper, ...node];
  return spawnSync(line[0] ?? "", line.slice(1), { encoding: "utf8", cwd: import.meta.dirname });
}
