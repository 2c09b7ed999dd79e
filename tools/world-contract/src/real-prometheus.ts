import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasCommand } from "@evenkeel/runtime/testing";
import { answering, end, freePort } from "./answering.ts";

/** How long Prometheus may take to be ready on a busy machine, in milliseconds. */
const START = 30_000;

const run = promisify(execFile);

export interface RealPrometheus {
  readonly url: string;
  stop(): Promise<void>;
}

export function hasPrometheus(): boolean {
  return hasCommand("prometheus") && hasCommand("promtool");
}

/**
 * Brings up Debian's Prometheus with samples of the past, in OpenMetrics text. `webConfig` is the file that asks for
 * credentials.
 */
export async function startRealPrometheus(samples: string, webConfig = ""): Promise<RealPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "evenkeel-prometheus-"));
  const data = join(folder, "data");
  const text = join(folder, "samples.txt");
  const config = join(folder, "config.yml");
  const web = join(folder, "web.yml");
  await writeFile(text, samples);
  await writeFile(config, "global: { scrape_interval: 1h }\n");
  await writeFile(web, webConfig);
  await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", text, data]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const prometheus = spawn(
    "prometheus",
    [
      `--config.file=${config}`,
      `--web.config.file=${web}`,
      `--storage.tsdb.path=${data}`,
      "--storage.tsdb.retention.time=100y",
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore" },
  );
  const stop = async (): Promise<void> => {
    await end(prometheus);
    await rm(folder, { recursive: true, force: true });
  };
  await answering(`${url}/-/ready`, prometheus, START, webConfig === "" ? 200 : 401).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url, stop };
}
