import { execFileSync, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCommand } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { BallastProcess } from "./ballast-process.ts";

const mainFile = join(import.meta.dirname, "../src/main.ts");
const replay = (file: string) => spawnSync(process.execPath, [mainFile, "replay", file], { encoding: "utf8" });

async function counted(ballast: BallastProcess, action: string, reason: string): Promise<number> {
  const text = await (await fetch(await ballast.url("admin", "/metrics"))).text();
  const series = `evenkeel_decisions_total{action="${action}",reason="${reason}"} `;
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(series))
      ?.slice(series.length),
  );
}

async function listed(ballast: BallastProcess): Promise<readonly { id: string; reason: string }[]> {
  const answer = await fetch(await ballast.url("admin", "/api/v1/Decisions/List"));
  return ((await answer.json()) as { decisions: { id: string; reason: string }[] }).decisions;
}

test("a decision reaches the log, the metric and the ring; repeats only count", async () => {
  await using ballast = await BallastProcess.start();
  const logged = await ballast.line(({ reason }) => reason === "BelowTarget");
  expect(logged).toMatchObject({ object: "Tank/main", action: "fill", before: 30, after: 50, dryRun: false });
  await ballast.line(({ reason }) => reason === "WithinTolerance");
  while ((await counted(ballast, "hold", "WithinTolerance")) < 5);
  expect(await counted(ballast, "fill", "BelowTarget")).toBe(1);
  expect(ballast.lines.filter(({ reason }) => reason === "WithinTolerance")).toHaveLength(1);
  expect((await listed(ballast)).map(({ reason }) => reason)).toEqual(["WithinTolerance", "BelowTarget"]);
  expect((await listed(ballast)).at(-1)?.id).toBe(logged["decision"]);
});

test("an unknown level is held and shown as absent, not as zero", async () => {
  await using ballast = await BallastProcess.start();
  await ballast.line(({ reason }) => reason === "WithinTolerance");
  await ballast.setLevel("a lot");
  await ballast.line(({ reason }) => reason === "NoData");
  const text = await (await fetch(await ballast.url("admin", "/metrics"))).text();
  expect(text).not.toMatch(/^ballast_level /m);
  expect(await readFile(join(ballast.folder, "level"), "utf8")).toBe("a lot");
});

test("a dry run decides the same and changes nothing", async () => {
  await using ballast = await BallastProcess.start(["--dry-run"]);
  expect(await ballast.line(({ reason }) => reason === "BelowTarget")).toMatchObject({ dryRun: true, after: 50 });
  while ((await counted(ballast, "fill", "BelowTarget")) < 3);
  expect(await readFile(join(ballast.folder, "level"), "utf8")).toBe("30\n");
});

test("a decision's snapshot, downloaded, replays to the same decision; a changed one does not", async () => {
  await using ballast = await BallastProcess.start();
  const { decision } = await ballast.line(({ reason }) => reason === "BelowTarget");
  const answer = await fetch(await ballast.url("admin", `/api/v1/Decisions/Snapshot?id=${String(decision)}`));
  expect(answer.headers.get("content-disposition")).toContain("attachment");
  const text = await answer.text();

  const file = join(ballast.folder, "recording.json");
  await writeFile(file, text);
  const same = replay(file);
  expect(same.stdout).toContain(`the same decision as recorded (${String(decision)})`);
  expect(same.status).toBe(0);

  await writeFile(file, text.replace('"level":30', '"level":70'));
  const other = replay(file);
  expect(other.stderr).toContain("EK_RUNTIME_REPLAY_DIFFERS");
  expect(other.status).toBe(1);

  await writeFile(file, "{}");
  expect(replay(file)).toMatchObject({ status: 2, stdout: "" });
});

const testWithPromtool = hasCommand("promtool") ? test : test.skip;

testWithPromtool("promtool finds nothing wrong with the metrics (needs Debian's prometheus)", async () => {
  await using ballast = await BallastProcess.start();
  const text = await (await fetch(await ballast.url("admin", "/metrics"))).text();
  // Names that client libraries share (process_*, nodejs_*) break promtool's naming advice; ours must not.
  const own = text.split("\n").filter((line) => /^(# (HELP|TYPE) )?(ballast|evenkeel)_/.test(line));
  expect(own.length).toBeGreaterThan(10);
  expect(execFileSync("promtool", ["check", "metrics"], { input: `${own.join("\n")}\n`, encoding: "utf8" })).toBe("");
});
