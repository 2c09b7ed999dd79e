import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger, systemClock } from "@evenkeel/runtime";
import {
  type Destination,
  type Exchange,
  Forwarder,
  heldBytes,
  Hold,
  type HoldOutcome,
  type Origin,
} from "../../src/index.ts";
import { defaultLimits } from "../../src/limits.ts";

export const KEY = "service";

/** A request as the upstream got it. */
export interface Arrival {
  readonly path: string;
  readonly bytes: number;
  readonly digest: string;
}

interface Held {
  readonly exchange: Exchange;
  readonly send: (destination: Destination) => void;
}

/**
 * A forwarder that holds everything until `origin` is offered, in front of a real server that writes down what comes.
 */
export async function startHoldWorld({ wait = 60_000, answerAfter = 0, probe = defaultLimits.probe } = {}) {
  const arrivals: Arrival[] = [];
  const most = { requests: 0, connections: 0 };
  let requests = 0;
  let connections = 0;
  const upstream = createServer((request, response) => {
    most.requests = Math.max(most.requests, (requests += 1));
    const hash = createHash("sha1");
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      hash.update(part);
    });
    request.on("end", () => {
      arrivals.push({ path: request.url ?? "", bytes, digest: hash.digest("hex") });
      setTimeout(() => {
        requests -= 1;
        response.end(request.url);
      }, answerAfter);
    });
  });
  upstream.on("connection", (socket) => {
    most.connections = Math.max(most.connections, (connections += 1));
    socket.on("close", () => (connections -= 1));
  });
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  const origin: Origin = { host: "127.0.0.1", port: (upstream.address() as AddressInfo).port, protocol: "http1" };

  /** Emits `entered` for each request that the hold got. */
  const entries = new EventEmitter();
  const outcomes = new Map<HoldOutcome, number>();
  const hold = new Hold<Held, Origin>({
    clock: systemClock,
    perKey: { count: 2000, bytes: 1e9 },
    overall: { count: 2000, bytes: 1e9 },
    settle: ({ exchange, send }, settlement) => {
      const { outcome } = settlement;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      exchange.whenLeft = undefined;
      if (settlement.outcome !== "released") {
        send({ refuse: { status: 503, code: outcome, headers: ["retry-after", "1"] } });
        return;
      }
      const { slot } = settlement;
      send({ origin: slot.upstream, settled: () => slot.done() });
    },
  });
  const route = (exchange: Exchange) =>
    new Promise<Destination>((send) => {
      const place = hold.enter(KEY, { exchange, send }, { bytes: heldBytes(exchange), wait });
      if (place) exchange.whenLeft = { left: () => hold.leave(place) };
      entries.emit("entered");
    });
  const forwarder = new Forwarder({
    name: "held",
    host: "127.0.0.1",
    port: 0,
    router: { route },
    limits: { probe },
    clock: systemClock,
    log: createLogger({ service: "test", level: "error", secrets: [], destination: process.stderr }),
    registry: new MetricRegistry(),
  });
  await forwarder.start();
  return {
    hold,
    forwarder,
    origin,
    entries,
    arrivals,
    outcomes,
    most,
    stop: async () => {
      await forwarder.stop(AbortSignal.timeout(1000));
      upstream.close();
      upstream.closeAllConnections();
    },
  };
}

export type HoldWorld = Awaited<ReturnType<typeof startHoldWorld>>;

/** A client that has sent `bytes`, and reads what comes. */
export class RawClient {
  readonly socket: Socket;
  received = "";

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (data) => (this.received += data.toString("latin1")));
    socket.on("error", () => undefined);
  }

  static async open(port: number, ...bytes: readonly (string | Buffer)[]): Promise<RawClient> {
    const client = new RawClient(connect({ port, host: "127.0.0.1" }));
    await once(client.socket, "connect");
    for (const part of bytes) client.socket.write(part);
    return client;
  }

  /** What it got, once the connection has ended. */
  async answer(): Promise<string> {
    if (!this.socket.closed) await once(this.socket, "close");
    return this.received;
  }
}
