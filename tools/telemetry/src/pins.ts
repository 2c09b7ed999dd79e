import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * In the order in which they are built. Prometheus's own are a module of their own: the receiver requires newer
 * libraries.
 */
export const PROGRAMS = {
  "relabel-oracle": { module: "prometheus", package: "evenkeel.io/telemetry/prometheus/relabel-oracle" },
  promtool: { module: "prometheus", package: "github.com/prometheus/prometheus/cmd/promtool" },
  otelcol: { module: "otelcol", package: "evenkeel.io/telemetry/otelcol" },
} as const;

export type Program = keyof typeof PROGRAMS;

/** Prometheus's discovery without the clouds' libraries. Static, file and HTTP discovery are always in. */
const TAGS = "remove_all_sd,enable_kubernetes_sd,enable_dns_sd";

export const BUILD_FLAGS: readonly string[] = ["-trimpath", "-buildvcs=false", `-tags=${TAGS}`, "-ldflags=-s -w"];

export const GO_FOLDER = join(import.meta.dirname, "..", "go");

/** The Go modules as text by file: what they require, and the sources of our own. */
export type Pins = Readonly<Record<string, string>>;

export function readPins(): Pins {
  const files = globSync(["*/go.mod", "*/go.sum", "**/*.go"], { cwd: GO_FOLDER }).sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(GO_FOLDER, file), "utf8")]));
}

/** Names the folder of one set of programs. Whatever could change one of them gives another name. */
export function versionKey(pins: Pins, platform: string): string {
  const receiver = /prometheusreceiver (v\S+)/.exec(pins["otelcol/go.mod"] ?? "")?.[1];
  if (receiver === undefined) throw new Error("otelcol/go.mod requires no version of prometheusreceiver");
  const hash = createHash("sha256").update(JSON.stringify([platform, pins, PROGRAMS, BUILD_FLAGS]));
  return `${receiver}-${hash.digest("hex").slice(0, 12)}`;
}
