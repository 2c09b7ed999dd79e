// The forwarder, with one listener for each upstream, that writes down what it sends on. Ended by an exception that
// nobody catches.
import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger, systemClock } from "@evenkeel/runtime";
import { Forwarder, type Exchange, type Origin, type Router } from "../../src/index.ts";
import { indexOf } from "./address.ts";
import type { Forwarded } from "./seen.ts";

const [nodePort = NaN, goPort = NaN] = process.argv.slice(2).map(Number);
const origins: Readonly<Record<"node" | "go", Origin>> = {
  node: { host: "127.0.0.1", port: nodePort, protocol: "http1" },
  go: { host: "127.0.0.1", port: goPort, protocol: "http1" },
};
let forwarded = { node: [] as Forwarded[], go: [] as Forwarded[] };
/**
 * Lines that the forwarder logs as errors: it has a word for everything that a client can do wrong, so each is a
 * defect.
 */
const defects: string[] = [];
const positions = new Map<string, number>();
let open = 0;

const router: Router = {
  route: (exchange) => {
    const upstream = exchange.listener === "go" ? "go" : "node";
    const id = nextId(exchange);
    const { method, path, host, headers } = exchange;
    forwarded[upstream].push({ id, method, path, host, headers: [...headers] });
    open += 1;
    return { origin: origins[upstream], headers: ["x-fuzz-id", id], settled: () => (open -= 1) };
  },
  // A second try would be a second request in what the upstream writes down.
  retry: () => undefined,
};

/**
 * The number of the input, and which of its requests this is. The address of a client that is gone already is not known
 * any more; such a request has a mark that no other upstream's has.
 */
function nextId({ listener, remoteAddress }: Exchange): string {
  const key = `${listener} ${remoteAddress}`;
  const position = positions.get(key) ?? 0;
  positions.set(key, position + 1);
  return remoteAddress.startsWith("127.") ? `${indexOf(remoteAddress)}-${position}` : `${listener}-gone-${position}`;
}

const registry = new MetricRegistry();
const forwarder = new Forwarder({
  name: "node",
  host: "127.0.0.1",
  port: 0,
  router,
  clock: systemClock,
  log: createLogger({
    service: "fuzz",
    level: "error",
    secrets: [],
    destination: { write: (line) => defects.push(line) },
  }),
  registry,
});
await forwarder.start();
const second = await forwarder.listen({ name: "go", host: "127.0.0.1", port: 0 });

async function reply(question: unknown): Promise<void> {
  if (question === "open?") {
    const { exchanges, clientSockets, timers } = forwarder.counts();
    process.send?.({ unsettled: open, exchanges, clientSockets, timers });
  } else {
    const [, refused] = /^evenkeel_forward_malformed_total (\d+)/m.exec(await registry.text()) ?? [];
    process.send?.({ ...forwarded, defects: defects.splice(0), refused: Number(refused) });
    forwarded = { node: [], go: [] };
  }
}

process.on("message", (question) => void reply(question));
process.send?.([forwarder.port, second.port]);
