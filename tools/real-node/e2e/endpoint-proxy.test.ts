import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TEST_TIMEOUT_MS, waitUntil } from "@evenkeel/e2e";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { describeOnRealNode, NODE_IMAGE } from "../src/index.ts";
import { CAT, ECHO } from "./proxies/programs.ts";
import { ProxySite, type Way } from "./proxies/proxy-site.ts";

jest.setTimeout(TEST_TIMEOUT_MS);

const NODE = "/nodejs/bin/node";
const MEBIBYTE = 2 ** 20;
const SPDY = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" };

/** It may run under Pod Security "restricted", has an open input, and a folder to write to. */
const deployment = {
  ...{ apiVersion: "apps/v1", kind: "Deployment" },
  metadata: { name: "echo" },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "echo" } },
    template: {
      metadata: { labels: { app: "echo" } },
      spec: {
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        terminationGracePeriodSeconds: 1,
        volumes: [{ name: "tmp", emptyDir: {} }],
        containers: [
          {
            ...{ name: "node", image: NODE_IMAGE, args: ["-e", ECHO], stdin: true },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

describeOnRealNode("endpoint-proxy, installed by the umbrella chart under Pod Security restricted", (cluster) => {
  const folder = mkdtempSync(join(tmpdir(), "streams-"));
  let site: ProxySite;
  let pod = "";

  beforeAll(async () => {
    site = await ProxySite.start(cluster());
  }, 3 * TEST_TIMEOUT_MS);
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }, TEST_TIMEOUT_MS);

  function start(way: Way, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(site.kubectl, [...args.slice(0, 1), ...site.through(way), ...args.slice(1)], {
      env: { ...process.env, KUBECACHEDIR: join(folder, "cache"), ...env },
    });
  }

  async function run(way: Way, args: readonly string[], env: NodeJS.ProcessEnv = {}, input = "") {
    const child = start(way, args, env);
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
    child.stdin?.end(input);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, stdout: stdout(), stderr: stderr() };
  }

  test("runs a Deployment that was created through it", async () => {
    const created = await run("one proxy", ["apply", "-f", "-"], {}, JSON.stringify(deployment));
    expect(created).toMatchObject({ code: 0, stdout: "deployment.apps/echo created\n" });
    const rollout = await run("one proxy", ["rollout", "status", "deployment/echo", "--timeout=60s"]);
    expect(rollout).toMatchObject({ code: 0 });
    const seen = await run("two proxies", [
      "get",
      "pods",
      "-l",
      "app=echo",
      "-o",
      "jsonpath={.items[*].metadata.name}",
    ]);
    expect(seen.stdout).toMatch(/^echo-\S+$/);
    pod = seen.stdout;
  });

  describe.each(["one proxy", "two proxies"] as const)("through %s", (way) => {
    describe.each([
      ["WebSocket", {}],
      ["SPDY", SPDY],
    ])("by %s", (protocol, env) => {
      test("exec passes input, output and the exit code", async () => {
        const text = `${protocol} ${randomBytes(50_000).toString("hex")}`;
        const { code, stdout } = await run(way, ["exec", "-i", pod, "--", NODE, "-e", CAT], env, text);
        expect(stdout).toBe(text);
        expect(code).toBe(7);
      });

      test("cp copies to the pod and back", async () => {
        const [sent, received] = [join(folder, "sent"), join(folder, `received-${way}-${protocol}`)];
        writeFileSync(sent, randomBytes(MEBIBYTE));
        expect(await run(way, ["cp", sent, `${pod}:/tmp/copy`], env)).toMatchObject({ code: 0 });
        expect(await run(way, ["cp", `${pod}:/tmp/copy`, received], env)).toMatchObject({ code: 0 });
        expect(readFileSync(received).equals(readFileSync(sent))).toBe(true);
      });

      test("port-forward carries 64 MiB in both directions with equal sums", async () => {
        const child = start(way, ["port-forward", pod, ":8080"], env);
        const said = textOf(child.stdout);
        const port = () => Number(/127\.0\.0\.1:(\d+) ->/.exec(said())?.[1] ?? 0);
        await waitUntil("the port to be forwarded", () => Promise.resolve(port() > 0 ? undefined : said()));
        const { sent, received } = await echoed(port(), 64);
        child.kill();
        expect(received).toBe(sent);
      });
    });

    test("logs -f and attach show what the pod writes", async () => {
      const logs = start(way, ["logs", "-f", pod]);
      const logged = textOf(logs.stdout);
      const attached = start(way, ["attach", "-i", pod, "--quiet"]);
      const shown = textOf(attached.stdout);
      attached.stdin?.write(`hello by ${way}\n`);
      const line = `read hello by ${way}\n`;
      await waitUntil("the line in both", () =>
        Promise.resolve(logged().includes(line) && shown().includes(line) ? undefined : `${logged()} and ${shown()}`),
      );
      logs.kill();
      attached.kill();
      expect(logged()).toMatch(/^ready\n/);
    });
  });

  test("its audit log names the users, the peer and both protocols", async () => {
    const seen = (await site.requests()).filter(
      ({ resource }) => resource === "pods/exec" || resource === "pods/portforward",
    );
    const lines = new Set(
      seen.map(({ user, peer, verb, resource, status }) => [user, peer, verb, resource, status].join()),
    );
    const robot = "system:serviceaccount:shop:robot";
    for (const [user, peer] of [
      [robot, ""],
      ["ann", "kyoto"],
    ]) {
      for (const verb of ["get", "create"]) {
        for (const resource of ["pods/exec", "pods/portforward"]) {
          expect(lines).toContain([user, peer, verb, resource, 101].join());
        }
      }
    }
  });
});

/** Collects a stream. Call the result for what has come so far. */
function textOf(stream: NodeJS.ReadableStream | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (part: string) => (text += part));
  return () => text;
}

/** Sends random mebibytes to a server that answers a body with itself. Returns the sums of both directions. */
async function echoed(port: number, mebibytes: number): Promise<{ sent: string; received: string }> {
  const sent = createHash("sha256");
  const received = createHash("sha256");
  const block = randomBytes(MEBIBYTE);
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const asked = request({ port, host: "127.0.0.1", method: "POST", path: "/" }, (response) => {
    response.on("data", (part: Buffer) => received.update(part));
    response.on("end", () => resolve(undefined)).on("error", reject);
  });
  asked.on("error", reject);
  for (let index = 0; index < mebibytes; index += 1) {
    block.writeUInt32BE(index);
    const part = Buffer.from(block);
    sent.update(part);
    if (!asked.write(part)) await Promise.race([promise, new Promise((drained) => asked.once("drain", drained))]);
  }
  asked.end();
  await promise;
  return { sent: sent.digest("hex"), received: received.digest("hex") };
}
