import { MetricRegistry } from "@evenkeel/metrics";
import { connectPeer, decisionsV1, type Peer, peerMetrics } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import { describe, expect, test } from "@jest/globals";
import { BallastProcess } from "./ballast-process.ts";

const start = (...flags: string[]) =>
  BallastProcess.start(["--insecure", "--grpc-port=0", ...flags], "main-with-peers.ts");

async function peerOf(ballast: BallastProcess): Promise<Peer> {
  const { ports } = (await ballast.phase("ready")) as { ports: { grpc: number } };
  const log = silentLog();
  const metrics = new MetricRegistry().register(peerMetrics);
  const address = `127.0.0.1:${ports.grpc}`;
  return connectPeer({ name: "ballast", address, transport: "insecure", clock: systemClock, log, metrics });
}

describe("decisions by gRPC", () => {
  test("are listed, explained and watched as they are made, and their snapshot is there", async () => {
    await using ballast = await start();
    const peer = await peerOf(ballast);
    const client = peer.client(decisionsV1.DecisionsDefinition);
    await ballast.line(({ reason }) => reason === "WithinTolerance");

    const ending = new AbortController();
    const watched = client.watch({ object: "Tank/main", last: 1 }, { signal: ending.signal })[Symbol.asyncIterator]();
    expect((await watched.next()).value).toMatchObject({ decision: { reason: "WithinTolerance" } });
    await ballast.setLevel("80\n");
    expect((await watched.next()).value).toMatchObject({
      decision: { action: "empty", reason: "AboveTarget", before: 80, after: 50 },
    });

    const { decisions } = await client.list({});
    expect(decisions.map(({ reason }) => reason)).toEqual(expect.arrayContaining(["BelowTarget", "WithinTolerance"]));
    expect(await client.explain({ object: "Tank/main" })).toMatchObject({ recorded: true });
    const { content } = await client.snapshot({ id: decisions[0]?.id ?? "" });
    expect(JSON.parse(Buffer.from(content).toString())).toMatchObject({
      service: "ballast",
      snapshot: { tank: "main" },
    });
    ending.abort();
    const rest = async () => {
      while (!(await watched.next()).done);
    };
    await expect(rest()).rejects.toThrow("abort");
    peer.stop();
  });

  test("are also server-sent events", async () => {
    await using ballast = await start();
    await ballast.line(({ reason }) => reason === "WithinTolerance");
    const ending = new AbortController();
    const answer = await fetch(await ballast.url("admin", "/api/v1/Decisions/Watch?last=1"), { signal: ending.signal });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    let text = "";
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.includes("WithinTolerance")) break;
    }
    ending.abort();
    expect(text).toContain("data:");
  });

  test("plaintext must be asked for", async () => {
    await using ballast = await BallastProcess.start([], "main-with-peers.ts");
    const { code, stderr } = await ballast.exit;
    expect(code).toBe(2);
    expect(stderr).toContain("--tls-key-file");
  });
});

describeRedis("decisions in shared state", () => {
  test("are read at any replica, also of one that is gone, and Redis gone stops nobody", async () => {
    const redis = await RedisServer.start();
    try {
      const state = `--state=redis://127.0.0.1:${redis.port}`;
      await using second = await start(state, "--dry-run");
      await second.phase("ready");
      {
        await using first = await start(state);
        const { decision } = await first.line(({ reason }) => reason === "BelowTarget");
        const peer = await peerOf(second);
        const client = peer.client(decisionsV1.DecisionsDefinition);
        let ids: string[] = [];
        while (!ids.includes(String(decision))) ids = (await client.list({})).decisions.map(({ id }) => id);
        peer.stop();
      }
      await redis.kill();
      await second.line(({ component, level }) => component === "state" && level === "warn");
      expect((await fetch(await second.url("health", "/readyz"))).status).toBe(200);
      second.signal("SIGTERM");
      expect((await second.exit).code).toBe(0);
    } finally {
      await redis.end();
    }
  });
});
