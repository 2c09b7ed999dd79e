import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { BallastProcess } from "./ballast-process.ts";

const status = async (url: string): Promise<number> => (await fetch(url)).status;

test("answers probes and scrapes once it is ready", async () => {
  await using ballast = await BallastProcess.start();
  expect(await status(await ballast.url("health", "/healthz"))).toBe(200);
  expect(await status(await ballast.url("health", "/livez"))).toBe(200);
  expect(await status(await ballast.url("health", "/readyz"))).toBe(200);
  const metrics = await (await fetch(await ballast.url("admin", "/metrics"))).text();
  expect(metrics).toContain('evenkeel_build_info{service="ballast",version="0.1.0"} 1');
  const page = await (await fetch(await ballast.url("admin", "/"))).text();
  expect(page).toContain("Ready");
  expect(page).toContain("--level-file");
});

test("on SIGTERM goes not ready, ends its loops, waits, takes no new requests, finishes those in flight and exits 0", async () => {
  await using ballast = await BallastProcess.start(["--shutdown-delay=400ms"]);
  const hold = await ballast.url("harbour", "/hold");
  const inFlight = fetch(`${hold}?milliseconds=1200`, { headers: { connection: "close" } });
  await fetch(hold); // A round trip later, the request before it has arrived.

  ballast.signal("SIGTERM");
  await ballast.phase("delay");
  expect(await status(await ballast.url("health", "/readyz"))).toBe(503);
  expect(await status(await ballast.url("health", "/livez"))).toBe(200);
  expect(await status(hold)).toBe(200); // Load balancers do not know yet: requests are still taken.

  await ballast.phase("drain");
  await expect(fetch(hold, { headers: { connection: "close" } })).rejects.toThrow("fetch failed");
  expect(await (await inFlight).text()).toBe("released\n");

  const { code } = await ballast.exit;
  expect(code).toBe(0);
  const phases = ballast.lines.flatMap(({ phase }) => (phase === undefined ? [] : [phase]));
  expect(phases).toEqual(["ready", "not ready", "leader loops stopped", "delay", "drain", "stopped"]);
  const loopsStopped = ballast.lines.findIndex(({ phase }) => phase === "leader loops stopped");
  expect(ballast.lines.slice(loopsStopped).some(({ decision }) => decision !== undefined)).toBe(false);
});

test("cuts requests that outlast the drain, says how many, and still exits 0", async () => {
  await using ballast = await BallastProcess.start(["--drain-timeout=150ms"]);
  const hold = await ballast.url("harbour", "/hold");
  const endless = fetch(`${hold}?milliseconds=60000`);
  const outcome = expect(endless).rejects.toThrow();
  await fetch(hold);
  ballast.signal("SIGTERM");
  expect((await ballast.exit).code).toBe(0);
  await outcome;
  expect(await ballast.line(({ cut }) => cut !== undefined)).toMatchObject({
    level: "warn",
    component: "harbour",
    cut: 1,
  });
});

test("a second signal exits at once with the signal's code", async () => {
  await using ballast = await BallastProcess.start(["--shutdown-delay=1h"]);
  await ballast.phase("ready");
  ballast.signal("SIGTERM");
  await ballast.phase("delay");
  ballast.signal("SIGINT");
  expect((await ballast.exit).code).toBe(130);
  expect(ballast.lines.at(-1)).toMatchObject({ level: "fatal", code: "EK_RUNTIME_SECOND_SIGNAL" });
});

test("a component's death ends the process with its reason and exit code 1", async () => {
  await using ballast = await BallastProcess.start();
  await ballast.phase("ready");
  await writeFile(join(ballast.folder, "iceberg"), "");
  expect((await ballast.exit).code).toBe(1);
  const fatal = ballast.lines.filter(({ level }) => level === "fatal");
  expect(fatal).toHaveLength(1);
  expect(fatal[0]).toMatchObject({
    code: "EK_RUNTIME_COMPONENT_DIED",
    msg: expect.stringContaining("an iceberg lies ahead"),
  });
});

test("outlives the reader of its log and still stops in order", async () => {
  await using ballast = await BallastProcess.start();
  const readyz = await ballast.url("health", "/readyz");
  const pumped = async (what: string) => {
    while (!(await (await fetch(await ballast.url("admin", "/metrics"))).text()).includes(what));
  };
  // It fills the tank from 30 to 50 at first, and would overwrite a level that is set meanwhile.
  await pumped('direction="in"} 20');
  ballast.stopReading();
  await ballast.setLevel("90\n"); // A decision, and so a log line that nobody takes.
  await pumped('direction="out"} 40');
  expect(await status(readyz)).toBe(200);
  ballast.signal("SIGTERM");
  expect((await ballast.exit).code).toBe(0);
});

test.each([
  ["rejection", "a plank gave way"],
  ["exception", "the mast fell"],
])("an unhandled %s ends the process with its reason, its stack and exit code 1", async (kind, cause) => {
  await using ballast = await BallastProcess.start();
  await fetch(await ballast.url("harbour", `/sink/${kind}`), { method: "POST" }).catch(() => undefined);
  expect((await ballast.exit).code).toBe(1);
  const fatal = ballast.lines.filter(({ level }) => level === "fatal");
  expect(fatal).toHaveLength(1);
  expect(fatal[0]).toMatchObject({ code: "EK_RUNTIME_UNHANDLED", msg: expect.stringContaining(cause) });
  expect(JSON.stringify(fatal[0])).toContain("harbour-server.ts");
});

test.each(["admin-port", "health-port", "port"])("a port that is taken is one line that names --%s", async (flag) => {
  const squatter = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => squatter.once("listening", resolve));
  const { port } = squatter.address() as AddressInfo;
  await using ballast = await BallastProcess.start([`--${flag}=${port}`]);
  expect((await ballast.exit).code).toBe(1);
  squatter.close();
  const fatal = ballast.lines.filter(({ level }) => level === "fatal");
  expect(fatal).toHaveLength(1);
  expect(fatal[0]).toMatchObject({ code: "EK_RUNTIME_PORT_IN_USE" });
  expect(fatal[0]?.["msg"]).toContain(`--${flag}`);
  expect(fatal[0]?.["msg"]).toContain(`127.0.0.1:${port}`);
});
