import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** The image's user; taken on when the tests run as root, who alone may. */
const NONROOT = 65532;
export const isRoot = process.getuid?.() === 0;

export interface Running extends AsyncDisposable {
  readonly line: string;
  /** Bytes in memory, now. */
  readonly residentBytes: () => number;
}

/**
 * Starts Node with a program as the image does: an unprivileged user, an environment of its own. Resolves when a line
 * of output fits.
 */
export async function runAsImage(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly fits: (line: string) => boolean;
    /** Keep the rights of the user who runs the tests. */
    readonly asRoot?: boolean;
  },
): Promise<Running> {
  const { cwd, env, fits, asRoot = false } = options;
  const identity = isRoot && !asRoot ? { uid: NONROOT, gid: NONROOT } : {};
  const child = spawn(process.execPath, args, { cwd, env, ...identity, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on("line", (text) => {
      said += `${text}\n`;
      if (fits(text)) resolve(text);
    });
    void ended.then(() => reject(new Error(`it ended too early:\n${said}`)));
  });
  return {
    line,
    residentBytes: () => residentBytes(child),
    [Symbol.asyncDispose]: () => end(child, ended),
  };
}

function residentBytes({ pid }: ChildProcess): number {
  const [, kilobytes = "NaN"] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid ?? 0}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}
