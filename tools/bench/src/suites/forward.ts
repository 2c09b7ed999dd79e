import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Guard } from "../forward/guard.ts";
import { type Manners, mannersOf } from "../forward/manners.ts";
import { startBackend, startProxy } from "../forward/nginx.ts";
import { cpuSeconds } from "../forward/process-usage.ts";
import { buildRival, requirePrograms, type Running, start } from "../forward/programs.ts";
import { streamMemory } from "../forward/streams.ts";
import { type Load, load } from "../forward/wrk.ts";
import { barred, figure, median, type Result } from "../result.ts";
import type { Suite } from "../suite.ts";

/** Many short ones: what else the machine does then falls on all contenders alike. */
const ROUNDS = 11;
const SECONDS = 2;
/** Requests until a contender's code counts as warm: by then Node has compiled what there is to compile. */
const WARM_UP = 40_000;

interface Round extends Load {
  /** CPU seconds of the proxy for 100,000 requests. */
  readonly cpu: number;
}

/** A proxy, and how wrk asks it. */
interface Contender {
  readonly name: string;
  readonly program: Pick<Running, "pid" | "port">;
  readonly headers?: readonly string[];
  readonly rounds: Round[];
}

const OURS = "forward";
const GO = "Go ReverseProxy";
const PRODUCT = "scale-resolver in Guard";
/** Clients of the Service's own port are asked to reconnect once a second, so that they reach a pod when Guard ends. */
const PRODUCT_DIRECT = `${PRODUCT}, Service's port`;

const program = (file: string) => join(import.meta.dirname, "../forward", file);
const node = (file: string, upstream: string) => start(process.execPath, [program(file), upstream]);

/** Bytes of heap of one request that is held. */
function heldHeap(): number {
  return Number(execFileSync(process.execPath, ["--expose-gc", program("held.ts")], { encoding: "utf8" }));
}

async function measure({ program: { pid, port }, headers }: Contender, seconds: number): Promise<Round> {
  const before = cpuSeconds(pid);
  const run = await load(`http://127.0.0.1:${port}/small`, seconds, headers);
  return { ...run, cpu: ((cpuSeconds(pid) - before) / run.requests) * 100_000 };
}

/** What the forwarder must do, and what others do. */
function judged(name: string, { closed, trailers, upgrades }: Manners): Result[] {
  const result = (measure: string, value: number, least: number) =>
    name === OURS
      ? barred(`${name}, ${measure}`, value, "count", `>= ${least}`)
      : figure(`${name}, ${measure}`, value, "count");
  return [
    result("upstreams closed, of 20 with a disconnected client", closed, 20),
    result("answers with their trailers, of 1", Number(trailers), 1),
    result("upgrades to SPDY/3.1, of 1", Number(upgrades), 1),
  ];
}

/**
 * The forwarder, scale-resolver, which is made of it, and the alternatives to both, in front of one nginx, in one run.
 */
export const forward: Suite = {
  name: "forward",
  about:
    "requests/s, latency and CPU of libs/forward and scale-resolver compared with nginx, Go and other proxies of Node; memory over 10 GB",
  async run(progress) {
    await requirePrograms();
    const rival = await buildRival();
    const folder = mkdtempSync(join(tmpdir(), "bench-forward-"));
    const running: Running[] = [];
    const keep = async (starting: Promise<Running>) => {
      const program = await starting;
      running.push(program);
      return program;
    };
    try {
      const backend = await keep(startBackend(folder));
      const upstream = `http://127.0.0.1:${backend.port}`;
      const ours = await keep(node("forward.ts", upstream));
      await using guard = await Guard.start({ address: "127.0.0.1", port: backend.port }, "/small");
      const { pid, routePort, servicePort, headers } = guard;
      const go = await keep(start(rival, [upstream]));
      const contenders: readonly Contender[] = [
        { name: "direct", program: backend, rounds: [] },
        { name: "nginx", program: await keep(startProxy(folder, backend.port)), rounds: [] },
        { name: OURS, program: ours, rounds: [] },
        { name: PRODUCT, program: { pid, port: routePort }, headers, rounds: [] },
        { name: GO, program: go, rounds: [] },
        { name: "http-proxy", program: await keep(node("http-proxy.ts", upstream)), rounds: [] },
        { name: "@fastify/http-proxy", program: await keep(node("fastify-http-proxy.ts", upstream)), rounds: [] },
        { name: PRODUCT_DIRECT, program: { pid, port: servicePort }, rounds: [] },
      ];
      for (const contender of contenders) {
        for (let requests = 0; requests < WARM_UP;) requests += (await measure(contender, SECONDS)).requests;
        progress(`warm: ${contender.name}`);
      }
      for (let round = 0; round < ROUNDS; round++) {
        for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
          const got = await measure(contender, SECONDS);
          contender.rounds.push(got);
          progress(
            `round ${round + 1} of ${ROUNDS}: ${contender.name} ${Math.round(got.perSecond)}/s, p99 ${got.p99} ms, CPU ${got.cpu.toFixed(2)} s`,
          );
        }
      }
      const memory = await streamMemory(ours);
      progress(`${memory.streams} streams of 10 MB`);
      const manners = [
        ...judged(OURS, await mannersOf((url) => node("forward.ts", url))),
        ...judged(GO, await mannersOf((url) => start(rival, [url]))),
        ...judged("http-proxy", await mannersOf((url) => node("http-proxy.ts", url))),
        ...judged("@fastify/http-proxy", await mannersOf((url) => node("fastify-http-proxy.ts", url))),
      ];

      const medians = contenders.map(({ name, rounds }) => ({
        name,
        perSecond: median(rounds.map(({ perSecond }) => perSecond)),
        p50: median(rounds.map(({ p50 }) => p50)),
        p99: median(rounds.map(({ p99 }) => p99)),
        cpu: median(rounds.map(({ cpu }) => cpu)),
        values: rounds.map(({ cpu }) => cpu),
      }));
      const ratio = (measured: "cpu" | "p99", ours: string, of: string) => {
        const [above, below] = [ours, of].map((wanted) => medians.find(({ name }) => name === wanted)?.[measured]);
        return (above ?? NaN) / (below ?? NaN);
      };
      const megabytes = (bytes: number) => bytes / 1e6;
      return {
        results: [
          ...medians.flatMap(({ name, perSecond, p50, p99, cpu, values }) => [
            figure(`${name}, requests`, perSecond, "1/s"),
            figure(`${name}, p50`, p50, "ms"),
            figure(`${name}, p99`, p99, "ms"),
            ...(name === "direct"
              ? []
              : [
                  figure(`${name}, CPU for 100,000 requests`, cpu, "s"),
                  figure(`${name}, CPU, least of ${ROUNDS} rounds`, Math.min(...values), "s"),
                  figure(`${name}, CPU, most of ${ROUNDS} rounds`, Math.max(...values), "s"),
                ]),
          ]),
          barred(`CPU, ${OURS} / ${GO}`, ratio("cpu", OURS, GO), "ratio", "<= 1.3"),
          barred(`CPU, ${PRODUCT} / ${GO}`, ratio("cpu", PRODUCT, GO), "ratio", "<= 1"),
          barred(`CPU, ${PRODUCT_DIRECT} / ${GO}`, ratio("cpu", PRODUCT_DIRECT, GO), "ratio", "<= 1"),
          barred(`CPU, ${OURS} / http-proxy`, ratio("cpu", OURS, "http-proxy"), "ratio", "<= 0.5"),
          barred(`p99, ${OURS} / ${GO}`, ratio("p99", OURS, GO), "ratio", "<= 1"),
          figure(`p99, ${PRODUCT} / ${GO}`, ratio("p99", PRODUCT, GO), "ratio"),
          figure(`forward, memory after 400 of ${memory.streams} streams of 10 MB`, megabytes(memory.warm), "MB"),
          figure("forward, most memory in all of them", megabytes(memory.most), "MB"),
          ...manners,
          barred("hold, heap of one of 100,000 held requests", heldHeap(), "bytes", "<= 200"),
          barred("forward, memory at the end / after 400 streams", memory.end / memory.warm, "ratio", "<= 1.2"),
        ],
        plot: {
          title: "CPU seconds of a proxy for 100,000 requests",
          unit: "s",
          series: medians
            .filter(({ name }) => name !== "direct")
            .map(({ name, values, cpu }) => ({ name, values, middle: cpu })),
        },
      };
    } finally {
      for (const program of running) program.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
