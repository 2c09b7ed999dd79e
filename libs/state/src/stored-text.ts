import { randomBytes } from "node:crypto";
import { explain } from "@evenkeel/runtime";
import { Corrupt } from "./errors.ts";
import type { Counts, Version } from "./state.ts";

/** 96 random bits: no two writes share a version. */
export function newVersion(): Version {
  return `v-${randomBytes(12).toString("base64url")}`;
}

/** `key` is named in the error. */
export function parseJson(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Corrupt({ key, fault: explain(error) }, { cause: error });
  }
}

export function parseVersion(key: string, text: string): Version {
  if (isVersion(text)) return text;
  throw new Corrupt({ key, fault: "it has no version" });
}

export function parseCounts(key: string, text: string): Counts {
  const value = parseJson(key, text);
  if (isCounts(value)) return value;
  throw new Corrupt({ key, fault: "it does not map names to numbers" });
}

function isVersion(text: string): text is Version {
  return /^v-[\w-]{16}$/.test(text);
}

function isCounts(value: unknown): value is Counts {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((count) => typeof count === "number")
  );
}

export function sumCounts(replicas: Iterable<Counts>): Counts {
  const sums = new Map<string, number>();
  for (const counts of replicas) {
    for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return Object.fromEntries(sums);
}
