import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { decisionsV1, resolverV1 } from "../src/index.ts";
import { read, startPeer } from "../src/testing/rpc-world.ts";

const program = fileURLToPath(new URL("sample-service.ts", import.meta.url));

interface Sample extends Disposable {
  readonly process: ChildProcess;
  readonly grpc: number;
  readonly admin: number;
  readonly exit: Promise<number | null>;
}

/** The sample service as a process of its own, once it is ready, until the test's end. */
async function start(...args: string[]): Promise<Sample> {
  const flags = [
    "--insecure",
    "--listen-host=127.0.0.1",
    "--admin-port=0",
    "--health-port=0",
    "--shutdown-delay=100ms",
    ...args,
  ];
  const child = spawn(process.execPath, [program, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit").then(([code]) => code as number | null);
  for await (const line of createInterface({ input: child.stdout })) {
    const { phase, ports } = JSON.parse(line) as { phase?: string; ports?: Record<"grpc" | "admin", number> };
    if (phase === "ready" && ports) {
      child.stdout.resume();
      return {
        process: child,
        grpc: ports.grpc,
        admin: ports.admin,
        exit,
        [Symbol.dispose]: () => child.kill("SIGKILL"),
      };
    }
  }
  throw new Error("the service ended before it was ready");
}

test("a peer killed in the middle of a call is away at once, and is connected to again when it is back", async () => {
  using first = await start("--grpc-port=0");
  using sample = startPeer(`127.0.0.1:${first.grpc}`, { deadline: 20_000 });
  const client = sample.peer.client(resolverV1.ResolverDefinition);
  const call = client.activity({ namespace: "60000" }, { retry: false });
  const watching = client.watch({})[Symbol.asyncIterator]();
  await watching.next();
  const next = watching.next();
  first.process.kill("SIGKILL");
  await expect(call).rejects.toMatchObject({ code: "EK_RPC_PEER_AWAY" });
  await expect(next).rejects.toMatchObject({ code: "EK_RPC_PEER_AWAY" });
  await eventually(() => !sample.peer.up);
  using second = await start(`--grpc-port=${first.grpc}`);
  expect(second.grpc).toBe(first.grpc);
  await eventually(() => sample.peer.up);
  await expect(client.activity({ namespace: "0" })).resolves.toEqual({ services: [] });
  expect(sample.lines.map(({ peer, level }) => [peer, level])).toEqual([
    ["sample", "info"],
    ["sample", "warn"],
    ["sample", "info"],
  ]);
});

test("a peer that hangs costs a call its deadline and no more, and answers again when it goes on", async () => {
  using hung = await start("--grpc-port=0");
  using sample = startPeer(`127.0.0.1:${hung.grpc}`, { deadline: 300 });
  const client = sample.peer.client(resolverV1.ResolverDefinition);
  await expect(client.activity({ namespace: "0" })).resolves.toBeDefined();
  hung.process.kill("SIGSTOP");
  await expect(client.activity({ namespace: "0" })).rejects.toMatchObject({ code: "EK_RPC_PEER_SLOW" });
  hung.process.kill("SIGCONT");
  await expect(client.activity({ namespace: "0" }, { deadline: 5000 })).resolves.toBeDefined();
});

test("on SIGTERM streams end with OK, the call in flight is answered, event streams end, and the process exits 0", async () => {
  using leaving = await start("--grpc-port=0");
  using sample = startPeer(`127.0.0.1:${leaving.grpc}`);
  let received = 0;
  const streaming = read(sample.peer.client(decisionsV1.DecisionsDefinition).watch({}), () => (received += 1)).then(
    () => "OK",
  );
  const page = fetch(`http://127.0.0.1:${leaving.admin}/api/v1/Decisions/Watch`).then((response) => response.text());
  await eventually(() => received > 2);
  const call = sample.peer.client(resolverV1.ResolverDefinition).activity({ namespace: "1000" });
  const answered = Promise.allSettled([call, streaming, page]);
  // The call is under way when the signal comes, since calls on one connection are taken in order.
  await sample.peer.client(resolverV1.ResolverDefinition).preview({});
  leaving.process.kill("SIGTERM");
  const [unary, stream, events] = await answered;
  expect(unary).toEqual({ status: "fulfilled", value: { services: [] } });
  expect(stream).toEqual({ status: "fulfilled", value: "OK" });
  expect(events).toMatchObject({ status: "fulfilled", value: expect.stringContaining("event: end") as unknown });
  await expect(leaving.exit).resolves.toBe(0);
});

test("a service that is told neither of certificates nor of plaintext does not start", async () => {
  const child = spawn(process.execPath, [program, "--grpc-port=0"], { stdio: ["ignore", "ignore", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(2);
  expect(complaint).toMatch(/EK_RUNTIME_BAD_SETTINGS: .*--tls-key-file/);
});
