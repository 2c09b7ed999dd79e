import { execFile } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { readProjects, workspaceRoot } from "../src/index.ts";

const run = promisify(execFile);

/** The workspace as it stands, in a folder of its own: what is done there leaves the real one alone. */
export class WorkspaceCopy implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), "workspace-copy-"));

  /** Copies what git would, and installs by links. */
  static async make(): Promise<WorkspaceCopy> {
    const copy = new WorkspaceCopy();
    const git = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    const { stdout } = await run("git", git, { cwd: workspaceRoot, maxBuffer: 1 << 26 });
    for (const file of stdout.split("\0").filter((name) => name !== "" && existsSync(join(workspaceRoot, name)))) {
      mkdirSync(dirname(join(copy.root, file)), { recursive: true });
      cpSync(join(workspaceRoot, file), join(copy.root, file));
    }
    copy.#linkPackages();
    for (const { name, folder } of readProjects(copy.root)) copy.link(name, folder);
    return copy;
  }

  /** What `npm install` does for a project: others can import it. */
  link(name: string, folder: string): void {
    symlinkSync(join(this.root, folder), join(this.root, "node_modules/@evenkeel", name));
  }

  /** Runs a program of the workspace to its end. Gives what it printed; fails with that if it does not exit with 0. */
  async run(program: string, ...args: string[]): Promise<string> {
    const bin = join(this.root, "node_modules/.bin");
    const path = `${bin}:${process.env["PATH"] ?? ""}`;
    // Jest's own flags are not for the programs that it starts.
    const env = { ...process.env, PATH: path, NODE_OPTIONS: "", NX_DAEMON: "false", NX_TUI: "false" };
    try {
      const { stdout, stderr } = await run(program, args, { cwd: this.root, env, maxBuffer: 1 << 26 });
      // Under nx, which sets FORCE_COLOR, programs colour what they print.
      return stripVTControlCharacters(stdout + stderr);
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}\n${stderr}`, { cause: error });
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  #linkPackages(): void {
    mkdirSync(join(this.root, "node_modules/@evenkeel"), { recursive: true });
    const packages = readdirSync(join(workspaceRoot, "node_modules")).filter(
      (name) => !["@evenkeel", ".cache", ".installed"].includes(name),
    );
    const nested = globSync("{apps,libs,tools}/*/node_modules", { cwd: workspaceRoot });
    for (const path of [...packages.map((name) => `node_modules/${name}`), ...nested]) {
      symlinkSync(join(workspaceRoot, path), join(this.root, path));
    }
  }
}
