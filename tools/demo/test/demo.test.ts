import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text as textOf } from "node:stream/consumers";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { loadStories } from "../src/stories.ts";

interface Shown {
  readonly rebalance: { readonly name: string };
  readonly conditions?: readonly { readonly reason: string }[];
}

const main = join(import.meta.dirname, "../src/main.ts");

/** Starts the demo as a terminal does: in a process group of its own. */
function start(...args: string[]): { demo: ChildProcess; lines: AsyncIterator<string>; closed: Promise<unknown> } {
  const demo = spawn(process.execPath, [main, ...args], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  return { demo, lines: createInterface(demo.stdout)[Symbol.asyncIterator](), closed: once(demo, "close") };
}

/** Reads on until a line fits. Gives what was read. */
async function readUntil(lines: AsyncIterator<string>, fits: (line: string) => boolean): Promise<string> {
  let text = "";
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    text += `${next.value}\n`;
    if (fits(next.value)) return text;
  }
  throw new Error(`the demo ended before that:\n${text}`);
}

test("every service has a story", async () => {
  const stories = await loadStories();
  const services = globSync("apps/*/src/main.ts", { cwd: join(import.meta.dirname, "../../..") });
  expect(stories.map(({ service }) => join("apps", service, "src/main.ts")).toSorted()).toEqual(services.toSorted());
});

test.concurrent(
  "plays the stories at speed, and everything comes out",
  async () => {
    const { demo, lines, closed } = start("--once");
    let text = "";
    for (let next = await lines.next(); !next.done; next = await lines.next()) text += `${next.value}\n`;
    await closed;
    expect(text).not.toContain("FAILED");
    const counts = [...text.matchAll(/ {2}([a-z-]+) {2}the story has ([1-9]\d*) checks$/gm)];
    const services = (await loadStories()).map(({ service }) => service);
    expect(counts.map(([, service]) => service).toSorted()).toEqual(services.toSorted());
    const checks = counts.reduce((sum, [, , count]) => sum + Number(count), 0);
    expect(text.match(/ {2}ok {6}/g)).toHaveLength(checks);
    expect(demo.exitCode).toBe(0);
  },
  120_000,
);

test.concurrent(
  "says in one line which port is in use, and how to choose another",
  async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const demo = spawn(process.execPath, [main, String(port)], { stdio: ["ignore", "ignore", "pipe"] });
    const [said] = await Promise.all([textOf(demo.stderr), once(demo, "close")]);
    taken.close();
    expect(demo.exitCode).toBe(1);
    expect(said.trimEnd().split("\n")).toEqual([expect.stringMatching(new RegExp(`${port}.* PORT=`))]);
  },
  30_000,
);

test.concurrent(
  "shows the services on one page that drives them, and stops all of it on Ctrl-C",
  async () => {
    const { demo, lines, closed } = start("0");
    try {
      const intro = await readUntil(lines, (line) => line.includes("Ctrl-C stops"));
      const url = /one page: {2}(\S+)/.exec(intro)?.[1] ?? "";
      const kubeconfig = /export KUBECONFIG=(\S+)/.exec(intro)?.[1] ?? "";
      expect(await (await fetch(url)).text()).toContain("Evenkeel demo");
      const dashboard = await fetch(`${url}weight-rebalancer/dashboard/`);
      expect(dashboard.status).toBe(200);
      expect(dashboard.headers.get("content-security-policy")).toContain("frame-ancestors 'self'");
      const weights = async () =>
        ((await (await fetch(`${url}weight-rebalancer/api/v1/Weights/Get`)).json()) as { weights: Shown[] }).weights;
      // At night the shop needs no second site. When that is done, somebody meddles.
      const atNight = ([shop]: readonly Shown[]) => shop?.conditions?.some(({ reason }) => reason === "InSync");
      await eventually(async () => atNight(await weights()) ?? false, 60_000);

      const press = (headers: Record<string, string>) =>
        fetch(`${url}demo/weight-rebalancer/edit`, { method: "POST", headers });
      expect((await press({})).status).toBe(404);
      expect((await press({ "x-demo": "1" })).status).toBe(200);
      const restored = `${url}weight-rebalancer/api/v1/Decisions/List?reason=ExternalChange`;
      await eventually(async () => {
        const { decisions } = (await (await fetch(restored)).json()) as { decisions: readonly unknown[] };
        return decisions.length > 0;
      }, 30_000);
      expect((await weights()).map(({ rebalance }) => rebalance.name)).toEqual(["shop"]);

      // A visitor needs no token, and another site's page cannot use that.
      const shop = { rebalance: { namespace: "default", name: "shop" } };
      const pause = (headers: Record<string, string>) =>
        fetch(`${url}weight-rebalancer/api/v1/Weights/Pause`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(shop),
        });
      expect((await pause({ "sec-fetch-site": "cross-site" })).status).toBe(401);
      expect((await pause({ "sec-fetch-site": "same-origin" })).status).toBe(200);
      await eventually(async () => {
        const [{ conditions = [] } = {}] = await weights();
        return conditions.some(({ reason }) => reason === "Paused");
      });

      // The other story on the page goes on beside it.
      expect((await fetch(`${url}scale-resolver/dashboard/`)).status).toBe(200);
      const burst = await fetch(`${url}demo/scale-resolver/burst`, { method: "POST", headers: { "x-demo": "1" } });
      // It is not if one of the burst's requests is lost.
      expect(burst.status).toBe(200);

      process.kill(-(demo.pid ?? 0), "SIGINT"); // As a terminal does: to the whole process group.
      await closed;
      expect(demo.exitCode).toBe(0);
      expect(existsSync(dirname(kubeconfig))).toBe(false);
      await expect(fetch(url)).rejects.toThrow("fetch failed");
    } finally {
      demo.kill("SIGKILL");
    }
  },
  120_000,
);
