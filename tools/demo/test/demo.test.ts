import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { connectKube, events, pods } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("runs a living cluster and the fixture service on it, and stops cleanly on Ctrl-C", async () => {
  const port = await freePort();
  const demo = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts"), String(port)], { detached: true });
  const closed = once(demo, "close");
  try {
    let text = "";
    for await (const line of createInterface(demo.stdout)) {
      text += `${line}\n`;
      if (line.includes('"phase":"ready"')) break;
    }
    const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(page).toContain("<h1>ballast</h1>");
    expect(page).toContain("--level-file");

    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(text)?.[1] ?? "";
    const settings = { kubeContext: undefined, kubeDeadline: 5000, kubeConnections: 1, kubeQps: 0, kubeBurst: 1 };
    const kube = connectKube({ settings: { ...settings, kubeconfig }, env: {}, userAgent: "test" });
    const running = async () =>
      (await kube.resource(pods).list()).items.filter(
        ({ status, spec }) => status?.phase === "Running" && spec?.nodeName,
      );
    while ((await running()).length < 10);
    const told = async () => (await kube.resource(events).list()).items.map(({ reason }) => reason);
    while ((await told()).length === 0);
    expect(await told()).toContain("WithinTolerance");
    await kube.stop();

    process.kill(-(demo.pid ?? 0), "SIGINT"); // As a terminal does: to the whole process group.
    await closed;
    expect(demo.exitCode).toBe(0);
    expect(existsSync(dirname(kubeconfig))).toBe(false);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
  } finally {
    demo.kill("SIGKILL");
  }
});
