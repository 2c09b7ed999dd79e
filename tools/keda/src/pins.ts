import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const MODULE = "github.com/kedacore/keda/v2";

/** In the order in which they are built. */
export const PROGRAMS = { operator: `${MODULE}/cmd/operator`, adapter: `${MODULE}/cmd/adapter` } as const;

export type Program = keyof typeof PROGRAMS;

export const BUILD_FLAGS: readonly string[] = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w"];

export const GO_FOLDER = join(import.meta.dirname, "..", "go", "keda");

/** The Go module as text. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

export function readPins(): Pins {
  const read = (file: string): string => readFileSync(join(GO_FOLDER, file), "utf8");
  return { goMod: read("go.mod"), goSum: read("go.sum") };
}

export function kedaVersion({ goMod }: Pick<Pins, "goMod">): string {
  const version = /^(?:require)?\s*github\.com\/kedacore\/keda\/v2 (v\S+)/m.exec(goMod)?.[1];
  if (version === undefined) throw new Error("go.mod requires no version of KEDA");
  return version;
}

/** Names the folder of one set of programs. Whatever could change one of them gives another name. */
export function versionKey(pins: Pins, platform: string): string {
  const hash = createHash("sha256").update(JSON.stringify([platform, pins, PROGRAMS, BUILD_FLAGS]));
  return `${kedaVersion(pins)}-${hash.digest("hex").slice(0, 12)}`;
}
