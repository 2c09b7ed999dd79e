// The forwarder as a service runs it: a table of routes, metrics, deadlines, and an eye on clients that leave. Prints
// its port.
import { Forwarder, type Forward, type Origin, type Outcome, type Router } from "@evenkeel/forward";
import { MetricRegistry } from "@evenkeel/metrics";
import { createLogger, systemClock } from "@evenkeel/runtime";

const ROUTES = 1000;

const upstream = new URL(process.argv[2] ?? "");
const origin: Origin = { host: upstream.hostname, port: Number(upstream.port), protocol: "http1" };

/** By the host and the first part of the path, as both services do; the one that is asked for is among a thousand. */
const routes = new Map<string, Map<string, Forward>>();
const ends = { answered: 0, refused: 0, left: 0, broken: 0 };
const settled = ({ end }: Outcome) => (ends[end] += 1);
for (let index = 0; index < ROUTES; index++) {
  const host = index === 0 ? "127.0.0.1" : `service-${index}.test`;
  routes.set(
    host,
    new Map([
      ["small", { origin, settled }],
      ["large", { origin, settled }],
    ]),
  );
}
const router: Router = {
  route: ({ host, path }) => {
    const colon = host.lastIndexOf(":");
    const slash = path.indexOf("/", 1);
    const first = slash < 0 ? path.slice(1) : path.slice(1, slash);
    return routes.get(colon < 0 ? host : host.slice(0, colon))?.get(first) ?? { refuse: { status: 404 } };
  },
};

const forwarder = new Forwarder({
  name: "bench",
  host: "127.0.0.1",
  port: 0,
  router,
  deadlines: { total: 60_000 },
  clock: systemClock,
  log: createLogger({ service: "bench", level: "warn", secrets: [], destination: process.stderr }),
  registry: new MetricRegistry(),
});
await forwarder.start();
console.log(forwarder.port);
