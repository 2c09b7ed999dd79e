import { MetricRegistry } from "@evenkeel/metrics";
import { type Authorizer, connectPeer, type Peer, peerMetrics, RpcServer, type Served } from "@evenkeel/rpc";
import { systemClock } from "@evenkeel/runtime";
import { silentLog } from "@evenkeel/runtime/testing";

export const silence = silentLog();

const COMMON = { transport: "insecure", clock: systemClock, log: silence } as const;

/** A client with a token for the server at an address, until it is stopped. */
export function peerAt(address: string, token: string): Peer {
  const metrics = new MetricRegistry().register(peerMetrics);
  const peer = connectPeer({ ...COMMON, name: "sample", address, token: () => Promise.resolve(token), metrics });
  peer.start();
  return peer;
}

type Definition = Served["definition"];

export interface Loopback extends AsyncDisposable {
  readonly peer: Peer;
  /** The permissions that were checked: `captain update elastiservices shop/checkout`. */
  readonly asked: readonly string[];
}

/** A gRPC server on a free port and a client with the token `token`. Only `captain` has permissions. */
export async function loopback<D extends Definition>(served: Served<D>, token = "captain"): Promise<Loopback> {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    authorize: (user, verb, { resource, subresource, namespace, name }) => {
      const what = [resource, subresource].filter(Boolean).join("/");
      asked.push(`${user} ${verb} ${what} ${namespace ?? ""}/${name ?? ""}`);
      return Promise.resolve({ allowed: user === "captain", user });
    },
  };
  const registry = new MetricRegistry();
  const limits = { message: 65_536, calls: 10, streams: 10 };
  const server = new RpcServer({ ...COMMON, host: "127.0.0.1", port: 0, limits, authorizer, registry });
  server.add(served);
  await server.start({ signal: new AbortController().signal, fail: () => undefined });
  const peer = peerAt(`127.0.0.1:${server.port}`, token);
  const stop = async () => {
    peer.stop();
    await server.stop(AbortSignal.timeout(0));
  };
  return { peer, asked, [Symbol.asyncDispose]: stop };
}
