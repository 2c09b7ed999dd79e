import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { build } from "esbuild";
import { finalStage } from "../src/dockerfile.ts";
import { metricNames } from "../src/metric-names.ts";
import { root } from "../src/places.ts";
import { isRoot, type Running, runAsImage } from "./image-process.ts";

const SERVICE = "weight-rebalancer";
const MEGABYTE = 1024 * 1024;

const stage = finalStage(readFileSync(join(root, "infra/docker/Dockerfile"), "utf8"), { SERVICE });
const NODE_FLAGS = stage.entry.slice(1);
let folder: string;
let api: ApiServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "image-"));
  for (const { source, target } of stage.copies) {
    const place = join(folder, "root", target);
    mkdirSync(dirname(place), { recursive: true });
    cpSync(join(root, source), place, { recursive: true });
  }
  api = await startApiServer({ users: [ADMIN] });
  api.load(
    readFileSync(join(root, "charts/weight-rebalancer/files/crds/rebalancer.ch1aki.github.io_rebalances.yaml"), "utf8"),
  );
  writeFileSync(join(folder, "kubeconfig"), kubeconfigFor(api.url));
  // What the chart mounts to be written to.
  mkdirSync(join(folder, "state"));
  if (isRoot) chownSync(join(folder, "state"), 65532, 65532);
  chmodSync(folder, 0o755);
  readOnly(join(folder, "root"));
});

afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
});

function readOnly(path: string): void {
  const isFolder = statSync(path).isDirectory();
  chmodSync(path, isFolder ? 0o555 : 0o444);
  if (isFolder) for (const name of readdirSync(path)) readOnly(join(path, name));
}

/** The service from the image's files alone, until it says that it is ready. */
async function start(round: number): Promise<Running> {
  const [program = "", ...args] = stage.command;
  const flags = ["--insecure", "--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0", "--grpc-port=0"];
  return runAsImage(
    [...NODE_FLAGS, join(folder, "root", program), ...args, ...flags, `--kubeconfig=${join(folder, "kubeconfig")}`],
    {
      cwd: join(folder, "root", dirname(program)),
      env: { EVENKEEL_STATE: `sqlite:${join(folder, "state", `${round}.db`)}`, ...stage.env },
      fits: (line) => line.includes('"phase":"ready"'),
    },
  );
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

test("the image is distroless Node 24 for an unprivileged user and holds the bundle, its map and the dashboard", () => {
  expect(stage.base).toMatch(/^\S+\/distroless\/nodejs24-debian13:nonroot$/);
  expect(stage.user).toBe("nonroot");
  expect(stage.entry[0]).toBe("/nodejs/bin/node");
  expect(stage.command).toEqual(["/app/main.mjs"]);
  expect(readdirSync(join(folder, "root"))).toEqual(["app"]);
  expect(readdirSync(join(folder, "root/app")).sort()).toEqual(["dashboard", "main.mjs", "main.mjs.map"]);
});

test("the bundle is smaller than 10 MB", () => {
  const { size } = statSync(join(folder, "root/app/main.mjs"));
  process.stderr.write(`  bundle: ${(size / MEGABYTE).toFixed(1)} MB\n`);
  expect(size).toBeLessThan(10 * MEGABYTE);
});

test("it serves from those files, and writes nothing beside its state", async () => {
  await using service = await start(0);
  const { ports } = JSON.parse(service.line) as { ports: Record<string, number> };
  const page = await fetch(`http://127.0.0.1:${ports["admin"] ?? 0}/dashboard/`);
  expect({ status: page.status, text: await page.text() }).toEqual({
    status: 200,
    text: expect.stringContaining("assets/"),
  });
  expect(readdirSync(folder).sort()).toEqual(["kubeconfig", "root", "state"]);
});

test("it has every metric that its board and its alerts ask for", async () => {
  await using service = await start(8);
  const { ports } = JSON.parse(service.line) as { ports: Record<string, number> };
  const page = await (await fetch(`http://127.0.0.1:${ports["admin"] ?? 0}/metrics`)).text();
  const known = new Set(Array.from(page.matchAll(/^# TYPE (\S+)/gm), ([, name = ""]) => name));
  const board = readFileSync(join(root, `infra/grafana/${SERVICE}.json`), "utf8");
  const rules = readFileSync(join(root, `infra/prometheus/${SERVICE}.rules.yaml`), "utf8");
  const queries = [
    ...Array.from(board.matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g), ([, text = ""]) => JSON.parse(text) as string),
    ...Array.from(rules.matchAll(/expr: (.*)$/gm), ([, text = ""]) => text),
  ];
  expect(queries.length).toBeGreaterThan(20);
  // Prometheus itself says whether a target is up, and without TLS no certificate expires.
  const elsewhere = ["up", "evenkeel_certificate_expiry_timestamp_seconds"];
  const asked = new Set(queries.flatMap(metricNames).map((name) => name.replace(/_bucket$/, "")));
  expect([...asked].filter((name) => !elsewhere.includes(name) && !known.has(name)).sort()).toEqual([]);
}, 60_000);

test("idle it takes at most 130 MB of memory", async () => {
  const bundle = join(folder, "bare.mjs");
  const compose = join(root, "apps", SERVICE, "src/compose.ts");
  const banner =
    "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";
  await build({
    ...{ bundle: true, platform: "node", target: "node24", format: "esm", minifySyntax: true, minifyWhitespace: true },
    ...{ keepNames: true, logLevel: "error", outfile: bundle, banner: { js: banner } },
    stdin: {
      contents: `import * as all from ${JSON.stringify(compose)}; console.log("up", Object.keys(all).length); setInterval(() => {}, 1e6);`,
      resolveDir: root,
    },
  });
  // Idle is when V8 has noticed it too, and has given back what the start needed.
  const settle = () => new Promise((resolve) => setTimeout(resolve, 10_000));
  await using first = await start(9);
  await using second = await start(10);
  await using third = await start(11);
  await using bare = await runAsImage([...NODE_FLAGS, bundle], {
    cwd: folder,
    env: {},
    fits: (line) => line.startsWith("up"),
  });
  await settle();
  const used = median([first, second, third].map((service) => service.residentBytes())) / MEGABYTE;
  const least = bare.residentBytes() / MEGABYTE;
  process.stderr.write(`  idle: ${used.toFixed(0)} MB; a bundle that only imports the same: ${least.toFixed(0)} MB\n`);
  expect(used).toBeLessThanOrEqual(130);
}, 60_000);
