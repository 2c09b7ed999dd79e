import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { foldersFrom } from "@evenkeel/control-plane";
import { test } from "@jest/globals";

/** Where `make control-plane` has put a program. Empty if it has not been run. */
export function builtProgram(name: string): string {
  const { cache } = foldersFrom(process.env);
  return existsSync(cache) ? (globSync(`*/bin/${name}`, { cwd: cache }).map((file) => join(cache, file))[0] ?? "") : "";
}

/** A case that needs such a program; without it the case is skipped, under a name that says so. */
export function programCase(name: string): (sentence: string, body: () => Promise<void>, limit: number) => void {
  if (builtProgram(name) !== "") return test;
  return (sentence, body, limit) => test.skip(`${sentence} (needs ${name}: make control-plane)`, body, limit);
}
