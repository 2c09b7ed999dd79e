import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildBinaries, foldersFrom } from "@evenkeel/control-plane";

export interface HelmResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Path of the pinned Helm, which is built if it is missing. */
export async function pinnedHelm(
  progress: (line: string) => void = (line) => process.stderr.write(`  ${line}\n`),
): Promise<string> {
  const toolset = await buildBinaries({ binaries: ["helm"], folders: foldersFrom(process.env), progress });
  return toolset.path("helm");
}

/** Runs Helm to its end. Any exit code is a result. */
export async function runHelm(helm: string, args: readonly string[], env = process.env): Promise<HelmResult> {
  const child = spawn(helm, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const { promise, resolve, reject } = Promise.withResolvers<HelmResult>();
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.on("error", reject);
  child.on("close", (code) => resolve({ stdout, stderr, code: code ?? -1 }));
  return promise;
}

/** Runs Helm, which must succeed, and returns its output. */
export async function helmOutput(helm: string, args: readonly string[], env = process.env): Promise<string> {
  const { stdout, stderr, code } = await runHelm(helm, args, env);
  if (code !== 0) throw new Error(`helm ${args.join(" ")} ended with code ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** An environment without the user's Helm settings, with Helm's files in `folder`. */
export function helmEnvironment(folder: string, kubeconfig: string): NodeJS.ProcessEnv {
  const own = (name: string) => join(folder, name);
  const homes = { HELM_CACHE_HOME: own("cache"), HELM_CONFIG_HOME: own("config"), HELM_DATA_HOME: own("data") };
  return { ...process.env, ...homes, KUBECONFIG: kubeconfig };
}
