import { execFileSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../../../node_modules/.bin", import.meta.url));

/**
 * What peers out there were built with: the protos may add to it and take nothing away. It is text, so that a review
 * shows what changes.
 */
const CONTRACT = "contract.txtpb";
const GENERATED = "src/generated";
const DESCRIPTORS = `${GENERATED}/descriptors.ts`;

/**
 * The protos of the rpc folder `root`, what is generated from them (code for every message and service, and the
 * descriptors that reflection and the JSON API read), and the contract that they keep.
 */
export class Contract {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * What is wrong with the protos themselves: faults of style, and changes that would break a peer that keeps to the
   * contract. A change that is meant to break begins with removing the contract file.
   */
  faults(): readonly string[] {
    const against = existsSync(join(this.#root, CONTRACT)) ? [this.#run("breaking", "--against", CONTRACT)] : [];
    return [this.#run("lint"), this.#run("format", "--diff", "--exit-code"), ...against]
      .filter(({ ok }) => !ok)
      .flatMap(({ output }) => output.trim().split("\n"));
  }

  /** Generated files that are not what the protos give: different, missing, or left over. */
  drifted(): readonly string[] {
    return this.#generated((fresh) => {
      const names = new Set([...filesOf(fresh), ...filesOf(this.#root)]);
      return [...names].filter((name) => read(join(fresh, name)) !== read(join(this.#root, name))).sort();
    });
  }

  /** Makes the present protos the contract. */
  accept(): void {
    this.#must("build", "--exclude-source-info", "--output", CONTRACT);
  }

  write(): void {
    this.#generated((fresh) => {
      rmSync(join(this.#root, GENERATED), { recursive: true, force: true });
      cpSync(fresh, this.#root, { recursive: true });
    });
  }

  #generated<T>(use: (folder: string) => T): T {
    const folder = mkdtempSync(join(tmpdir(), "evenkeel-rpc-"));
    try {
      const descriptors = join(folder, "descriptors.binpb");
      this.#must("generate", "--output", folder);
      this.#must("build", "--exclude-source-info", "--as-file-descriptor-set", "--output", descriptors);
      writeFileSync(join(folder, DESCRIPTORS), descriptorsModule(readFileSync(descriptors)));
      rmSync(descriptors);
      return use(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #must(...args: string[]): void {
    const { ok, output } = this.#run(...args);
    if (!ok) throw new Error(`buf ${args.join(" ")} failed:\n${output}`);
  }

  #run(...args: string[]): { readonly ok: boolean; readonly output: string } {
    const env = { ...process.env, PATH: [bin, process.env["PATH"]].join(delimiter) };
    try {
      return {
        ok: true,
        output: execFileSync(join(bin, "buf"), args, { cwd: this.#root, env, encoding: "utf8", stdio: "pipe" }),
      };
    } catch (error) {
      const { stdout = "", stderr = "", message } = error as Error & { stdout?: string; stderr?: string };
      return { ok: false, output: stdout + stderr || message };
    }
  }
}

/** A module rather than a file to read: a bundle is one file. */
function descriptorsModule(descriptors: Buffer): string {
  const lines = descriptors.toString("base64").match(/.{1,110}/g) ?? [];
  return `// Generated from the protos. DO NOT EDIT.

/** A google.protobuf.FileDescriptorSet of every proto, in base64. */
export const descriptors =
${lines.map((line) => `  "${line}"`).join(" +\n")};
`;
}

function filesOf(root: string): readonly string[] {
  return globSync(`${GENERATED}/**/*.ts`, { cwd: root });
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
