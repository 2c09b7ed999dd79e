import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ApiServerOptions } from "@evenkeel/sim";
import { type ServiceProcess, type ServiceProcessOptions, World, worldParts } from "@evenkeel/testkit";

/** What the image holds; `nx run eviction-planner:integration` makes it first. */
export const main = join(import.meta.dirname, "../dist/main.mjs");

const OPTIONS = {
  ...{ service: "eviction-planner", main, kinds: ["rebalancepolicies", "workloadsloes", "nodeclasses"] },
  // Another process leads soon after one was killed.
  flags: { "lease-duration": "2s", "lease-renew-deadline": "1500ms", "lease-retry-period": "200ms" },
};

/** A cluster that serves the kinds of the service. */
export async function plannerWorld(server: Partial<ApiServerOptions>): Promise<World> {
  const parts = await worldParts({ ...OPTIONS, server });
  return new PlannerWorld(parts, await compiled());
}

/**
 * Node keeps the program's compiled code in a folder when a process ends by itself, which those of the tests do not.
 * Each plan starts a thread of the program, and plans follow one another closely here: half of their CPU time was for
 * compiling.
 */
async function compiled(): Promise<NodeJS.ProcessEnv> {
  const { mtimeMs } = statSync(main);
  const folder = join(tmpdir(), "eviction-planner-compiled", String(mtimeMs));
  const env = { ...process.env, NODE_COMPILE_CACHE: folder };
  if (!existsSync(folder)) await promisify(execFile)(process.execPath, [main, "--version"], { env });
  return env;
}

class PlannerWorld extends World {
  readonly #env: NodeJS.ProcessEnv;

  constructor(parts: ConstructorParameters<typeof World>[0], env: NodeJS.ProcessEnv) {
    super(parts);
    this.#env = env;
  }

  override serve(flags?: readonly string[], { env, ...options }: ServiceProcessOptions = {}): ServiceProcess {
    return super.serve(flags, { ...options, env: { ...this.#env, ...env } });
  }
}
