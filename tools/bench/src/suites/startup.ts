import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { barred, figure, median } from "../result.ts";
import type { Suite } from "../suite.ts";

const root = join(import.meta.dirname, "../../../..");
const rounds = 9;

/** The least that a service could be: Node with one listening HTTP server. */
const bareServer = `
  require("node:http").createServer((_request, answer) => answer.end("ok")).listen(0, "127.0.0.1", () => console.log("ready"));
`;

interface Start {
  readonly milliseconds: number;
  readonly rss: number;
}

/** From spawn to the line that says it serves, and its memory at that time. */
async function start(args: readonly string[]): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) if (line.includes("ready")) break;
  const milliseconds = performance.now() - began;
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid ?? 0}/status`, "utf8"))?.[1]) * 1024;
  child.kill("SIGKILL");
  await once(child, "close");
  return { milliseconds, rss };
}

/** How long the fixture service takes to serve, from sources and as one bundled file, compared with a bare Node server. */
export const startup: Suite = {
  name: "startup",
  about: "time from spawn to ready and memory then, of the fixture service and of a bare Node server",
  async run(progress) {
    const folder = mkdtempSync(join(tmpdir(), "bench-startup-"));
    const levelFile = join(folder, "level");
    writeFileSync(levelFile, "50\n");
    const bundled = spawnSync("nx", ["run", "ballast:bundle"], { cwd: root, encoding: "utf8" });
    if (bundled.status !== 0) throw new Error(`The bundle was not made:\n${bundled.stdout}${bundled.stderr}`);
    const flags = [
      `--level-file=${levelFile}`,
      "--listen-host=127.0.0.1",
      "--admin-port=0",
      "--health-port=0",
      "--port=0",
    ];
    const contenders = [
      { name: "bare Node server", args: ["-e", bareServer], starts: [] as Start[] },
      {
        name: "ballast, one bundled file",
        args: [join(root, "tools/ballast/dist/main.mjs"), ...flags],
        starts: [] as Start[],
      },
      {
        name: "ballast, from sources",
        args: [join(root, "tools/ballast/src/main.ts"), ...flags],
        starts: [] as Start[],
      },
    ];
    for (let round = 0; round < rounds; round++) {
      // Alternating order, so that a slow moment of the machine does not always hit the same one.
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed())
        contender.starts.push(await start(contender.args));
      progress(`round ${round + 1} of ${rounds}`);
    }
    rmSync(folder, { recursive: true });
    const [bare, bundle, sources] = contenders.map(({ name, starts }) => {
      const values = starts.map(({ milliseconds }) => milliseconds);
      return { name, values, middle: median(values), rss: median(starts.map(({ rss }) => rss)) / 2 ** 20 };
    });
    if (!bare || !bundle || !sources) throw new Error("unreachable: three contenders ran");
    return {
      results: [
        figure("bare Node server, spawn to ready", bare.middle, "ms"),
        figure("bundle, spawn to ready", bundle.middle, "ms"),
        figure("sources, spawn to ready", sources.middle, "ms"),
        figure("bare Node server, memory when ready", bare.rss, "MiB"),
        figure("bundle, memory when ready", bundle.rss, "MiB"),
        barred("bundle / bare Node server, time", bundle.middle / bare.middle, "ratio", "<= 8"),
        barred("bundle / bare Node server, memory", bundle.rss / bare.rss, "ratio", "<= 2.5"),
        barred("bundle / sources, time", bundle.middle / sources.middle, "ratio", "<= 0.8"),
      ],
      plot: { title: "Spawn to ready", unit: "ms", series: [bare, bundle, sources] },
    };
  },
};
