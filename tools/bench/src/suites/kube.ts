import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { barred, figure, median } from "../result.ts";
import type { Suite } from "../suite.ts";

const COUNT = 20_000;
const ROUNDS = 3;

interface Cost {
  readonly kept: number;
  /** Milliseconds. */
  readonly took: number;
  readonly stall: number;
  /** Bytes. */
  readonly heap: number;
  readonly connections: number;
}

type Child = ChildProcessByStdio<null, Readable, null>;

function run(file: string, args: readonly string[]): Child {
  const path = join(import.meta.dirname, "../kube", file);
  return spawn(process.execPath, ["--expose-gc", path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

async function firstLine(child: Child): Promise<string> {
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error("a contender ended without a word");
}

/** One contender against a server of its own, so that connections are counted apart. */
async function measure(file: string, ...args: string[]): Promise<Cost> {
  const server = run("pods-server.ts", [String(COUNT)]);
  try {
    const [, port = ""] = (await firstLine(server)).split(" ");
    const url = `http://127.0.0.1:${port}`;
    const contender = run(file, [url, ...args]);
    const cost = JSON.parse(await firstLine(contender)) as Omit<Cost, "connections">;
    if (contender.exitCode === null) await once(contender, "close");
    if (cost.kept !== COUNT) throw new Error(`${file} kept ${cost.kept} of ${COUNT} pods`);
    // The connection of this question counts too.
    return { ...cost, connections: Number(await (await fetch(`${url}/connections`)).text()) - 1 };
  } finally {
    server.kill("SIGKILL");
  }
}

/** What it costs to hold 20,000 pods: client-node's informer compared with the reflector of libs/kube, in one run. */
export const kube: Suite = {
  name: "kube",
  about: "20,000 pods in client-node's informer and in the reflector: event-loop stall, heap, connections of 200 calls",
  async run(progress) {
    const contenders = [
      { name: "client-node informer", file: "informer.ts", args: [] as string[], costs: [] as Cost[] },
      { name: "reflector, streamed list", file: "reflector.ts", args: ["stream"], costs: [] as Cost[] },
      { name: "reflector, paged list", file: "reflector.ts", args: ["list"], costs: [] as Cost[] },
    ];
    for (let round = 0; round < ROUNDS; round++) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        contender.costs.push(await measure(contender.file, ...contender.args));
        progress(`round ${round + 1} of ${ROUNDS}: ${contender.name}`);
      }
    }
    const [informer, streamed, paged] = contenders.map(({ name, costs }) => ({
      name,
      values: costs.map(({ stall }) => stall),
      middle: median(costs.map(({ stall }) => stall)),
      took: median(costs.map(({ took }) => took)),
      heap: median(costs.map(({ heap }) => heap)) / 2 ** 20,
      connections: Math.max(...costs.map(({ connections }) => connections)),
    }));
    if (!informer || !streamed || !paged) throw new Error("unreachable: three contenders ran");
    const ours = [streamed, paged];
    return {
      results: [
        ...[informer, ...ours].flatMap(({ name, middle, took, heap }) => [
          figure(`${name}, longest event-loop stall`, middle, "ms"),
          figure(`${name}, time to the whole list`, took, "ms"),
          figure(`${name}, heap kept`, heap, "MiB"),
        ]),
        figure("client-node informer, connections with 200 calls", informer.connections, "connections"),
        ...ours.flatMap(({ name, middle, heap, connections }) => [
          barred(`stall, client-node / ${name}`, informer.middle / middle, "ratio", ">= 5"),
          barred(`heap, ${name} / client-node`, heap / informer.heap, "ratio", "<= 0.7"),
          // The watch holds one of its own.
          barred(`${name}, connections with 200 calls`, connections - 1, "connections", "<= 4"),
        ]),
      ],
      plot: {
        title: "Longest event-loop stall while 20,000 pods are listed",
        unit: "ms",
        series: [informer, streamed, paged],
      },
    };
  },
};
