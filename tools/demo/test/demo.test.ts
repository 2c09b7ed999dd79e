import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "@jest/globals";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("shows the fixture's page and stops cleanly on Ctrl-C", async () => {
  const port = await freePort();
  const demo = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts"), String(port)], { detached: true });
  const closed = once(demo, "close");
  try {
    for await (const line of createInterface(demo.stdout)) if (line.includes('"phase":"ready"')) break;
    const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(page).toContain("<h1>ballast</h1>");
    expect(page).toContain("--level-file");
    process.kill(-(demo.pid ?? 0), "SIGINT"); // As a terminal does: to the whole process group.
    await closed;
    expect(demo.exitCode).toBe(0);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
  } finally {
    demo.kill("SIGKILL");
  }
});
