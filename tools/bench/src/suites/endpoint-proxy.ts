import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTlsBackend, startTlsProxy } from "../endpoint-proxy/nginx-tls.ts";
import { writes } from "../endpoint-proxy/writes.ts";
import { cpuSeconds } from "../forward/process-usage.ts";
import { buildRival, requirePrograms, type Running, start } from "../forward/programs.ts";
import { type Load, load } from "../forward/wrk.ts";
import { barred, figure, median } from "../result.ts";
import type { Outcome, Suite } from "../suite.ts";

/** Many short ones: what else the machine does then falls on all contenders alike. */
const ROUNDS = 15;
const SECONDS = 2;
/** Requests until a contender's code counts as warm. */
const WARM_UP = 30_000;

const PATH = "/api/v1/namespaces/default/configmaps/settings";
const TOKEN = "authorization: Bearer token-of-alice";
const PROXY = "endpoint-proxy";
const RIVAL = "Go ReverseProxy";

/** As the image and the chart of endpoint-proxy start Node. */
const FLAGS = ["--max-semi-space-size=16", "--v8-pool-size=1"];

const program = join(import.meta.dirname, "../endpoint-proxy/gateway-program.ts");

interface Round extends Load {
  /** CPU seconds of the proxy for 100,000 requests. */
  readonly cpu: number;
}

async function measure({ pid, port }: Running): Promise<Round> {
  const before = cpuSeconds(pid);
  const run = await load(`https://127.0.0.1:${port}${PATH}`, SECONDS, [TOKEN]);
  return { ...run, cpu: ((cpuSeconds(pid) - before) / run.requests) * 100_000 };
}

/** A key and a certificate for this machine, which is its own authority. */
function writeCertificate(folder: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "tls.key"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", ...key, "-days", "2", ...names, "-out", "tls.crt"], {
    cwd: folder,
    stdio: "pipe",
  });
}

/**
 * Part 1: the port for users and the alternatives to it, in front of one nginx that plays the API server, in one run.
 * Part 2: writes over three members, after it, so that its programs have stopped.
 */
export const endpointProxy: Suite = {
  name: "endpoint-proxy",
  about: "CPU of endpoint-proxy for GETs compared with Go and nginx, and writes over three members",
  async run(progress) {
    const gets = await forwarded(progress);
    return { ...gets, results: [...gets.results, ...(await writes(progress))] };
  },
};

async function forwarded(progress: (line: string) => void): Promise<Outcome> {
  await requirePrograms();
  const rival = await buildRival("endpoint-proxy");
  const folder = mkdtempSync(join(tmpdir(), "bench-endpoint-proxy-"));
  const running: Running[] = [];
  const keep = async (starting: Promise<Running>) => {
    const one = await starting;
    running.push(one);
    return one;
  };
  try {
    writeCertificate(folder);
    const backend = await keep(startTlsBackend(folder));
    const upstream = `https://127.0.0.1:${backend.port}`;
    const contenders = [
      { name: "direct", program: backend, rounds: [] as Round[] },
      { name: "nginx", program: await keep(startTlsProxy(folder, backend.port)), rounds: [] as Round[] },
      {
        name: PROXY,
        program: await keep(start(process.execPath, [...FLAGS, program, upstream, folder])),
        rounds: [] as Round[],
      },
      { name: RIVAL, program: await keep(start(rival, [upstream, folder])), rounds: [] as Round[] },
    ];
    for (const { name, program } of contenders) {
      for (let requests = 0; requests < WARM_UP;) requests += (await measure(program)).requests;
      progress(`warm: ${name}`);
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const { name, program, rounds } of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const got = await measure(program);
        rounds.push(got);
        progress(
          `round ${round + 1} of ${ROUNDS}: ${name} ${Math.round(got.perSecond)}/s, p99 ${got.p99} ms, CPU ${got.cpu.toFixed(2)} s`,
        );
      }
    }
    const medians = contenders.map(({ name, rounds }) => ({
      name,
      perSecond: median(rounds.map(({ perSecond }) => perSecond)),
      p50: median(rounds.map(({ p50 }) => p50)),
      p99: median(rounds.map(({ p99 }) => p99)),
      cpu: median(rounds.map(({ cpu }) => cpu)),
      values: rounds.map(({ cpu }) => cpu),
    }));
    const cpuOf = (wanted: string) => medians.find(({ name }) => name === wanted)?.cpu ?? NaN;
    return {
      results: [
        ...medians.flatMap(({ name, perSecond, p50, p99, cpu }) => [
          figure(`${name}, requests`, perSecond, "1/s"),
          figure(`${name}, p50`, p50, "ms"),
          figure(`${name}, p99`, p99, "ms"),
          ...(name === "direct" ? [] : [figure(`${name}, CPU for 100,000 requests`, cpu, "s")]),
        ]),
        barred(`CPU, ${PROXY} / ${RIVAL}`, cpuOf(PROXY) / cpuOf(RIVAL), "ratio", "<= 1.3"),
      ],
      plot: {
        title: "CPU seconds of a proxy for 100,000 GETs, TLS on both sides",
        unit: "s",
        series: medians
          .filter(({ name }) => name !== "direct")
          .map(({ name, values, cpu }) => ({ name, values, middle: cpu })),
      },
    };
  } finally {
    for (const one of running) one.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
