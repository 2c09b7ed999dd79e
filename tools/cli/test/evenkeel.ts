import { Readable } from "node:stream";
import { PLAN_WORKER } from "@evenkeel/eviction-planner/testing";
import { registrations, run } from "../src/index.ts";
import { TestHost } from "../src/testing/test-host.ts";
import { ballastRegistration } from "./ballast-registration.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface EvenkeelOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads on standard input. */
  readonly input?: string;
  /** Whether the fixture service is registered besides. */
  readonly ballast?: boolean;
}

/**
 * Runs the program in this process to its end, on nobody's cluster unless told; what it asks is asked over real
 * connections.
 */
export async function evenkeel(args: readonly string[], options: EvenkeelOptions = {}): Promise<Ended> {
  const { env = {}, input = "", ballast = false } = options;
  const host = new TestHost(args, { HOME: "/nonexistent", ...env }, undefined, Readable.from([input]));
  const known = ballast ? [...registrations, ballastRegistration] : registrations;
  const code = await run(host.host, known, PLAN_WORKER);
  return { code, stdout: host.out, stderr: host.err };
}
