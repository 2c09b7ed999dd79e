import { MetricRegistry } from "@evenkeel/metrics";
import { drainV1, RpcServer } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";

export interface Call {
  readonly method: "prepare" | "release";
  readonly pod: string;
  readonly uid: string;
  readonly evicted?: boolean;
}

/** A service that has a say in evictions, over real gRPC. It answers with what the test says. */
export async function drainPeer(answer: (asked: number) => drainV1.Preparation, port = 0) {
  const calls: Call[] = [];
  const tokens: string[] = [];
  const server = new RpcServer({
    ...{ host: "127.0.0.1", port, transport: "insecure", mtls: false, clock: systemClock, log: silentLog() },
    limits: { message: 1 << 20, calls: 100, streams: 100 },
    registry: new MetricRegistry(),
    authorizer: {
      authorize: (token) => {
        tokens.push(token);
        return Promise.resolve({ allowed: true, user: "planner" });
      },
    },
  });
  const access = { verb: "create", object: { group: "", resource: "pods", subresource: "eviction" } };
  server.add({
    definition: drainV1.DrainHookDefinition,
    access: { prepare: () => access, release: () => access },
    implementation: {
      prepare: ({ pod }) => {
        calls.push({ method: "prepare", pod: pod?.name ?? "", uid: pod?.uid ?? "" });
        const preparation = answer(calls.filter(({ uid }) => uid === pod?.uid).length);
        return Promise.resolve({ preparation, message: "said the peer", retryAfter: { seconds: 0n, nanos: 1e8 } });
      },
      release: ({ pod, evicted }) => {
        calls.push({ method: "release", pod: pod?.name ?? "", uid: pod?.uid ?? "", evicted });
        return Promise.resolve({});
      },
    },
  });
  await server.start({ signal: new AbortController().signal, fail: () => undefined });
  const stop = () => server.stop(AbortSignal.timeout(0));
  return { calls, tokens, address: `127.0.0.1:${server.port}`, [Symbol.asyncDispose]: stop };
}
