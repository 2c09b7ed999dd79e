import { spawn } from "node:child_process";
import { ControlPlaneError } from "./errors.ts";

export interface KubectlOptions {
  /** Given on standard input: `kubectl(["apply", "-f", "-"], { input: manifest })`. */
  readonly input?: string;
  /** Path of the kubeconfig to use. Default: the administrator's. */
  readonly kubeconfig?: string;
  /** Default 60,000 milliseconds. */
  readonly deadlineMs?: number;
}

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/**
 * Runs a program to its end. Any exit code is a result. Rejects if it cannot be started, is killed or takes too long.
 */
export async function runKubectl(
  binary: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { input, deadlineMs = 60_000 }: KubectlOptions,
): Promise<KubectlResult> {
  const child = spawn(binary, args, { env: environment, stdio: ["pipe", "pipe", "pipe"] });
  const { promise, resolve, reject } = Promise.withResolvers<KubectlResult>();
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    const message = `kubectl ${args.join(" ")} took more than ${deadlineMs / 1000} s; it had said: ${stdout}${stderr}`;
    reject(new ControlPlaneError("EK_CLUSTER_DEADLINE", message));
  }, deadlineMs);
  child.on("error", reject);
  child.on("close", (code, signal) => {
    if (code === null) reject(new Error(`kubectl ${args.join(" ")} was ended by ${signal ?? "an unknown signal"}`));
    else resolve({ stdout, stderr, code });
  });
  // kubectl may exit without reading all of its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");
  return promise.finally(() => clearTimeout(timer));
}
