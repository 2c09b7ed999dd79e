import { execFile } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ControlPlaneError } from "./errors.ts";
import { goEnvironment } from "./go-toolchain.ts";
import { goFolder } from "./pins.ts";

const run = promisify(execFile);

/** Nodes become ready, pods become ready and deleted pods are removed, each at once. */
const STAGES = ["node/fast/node-initialize.yaml", "pod/fast/pod-ready.yaml", "pod/fast/pod-delete.yaml"];

/** One YAML stream of several documents. */
export function joinDocuments(documents: readonly string[]): string {
  return documents.map((document) => `${document.trim()}\n`).join("---\n");
}

/** Writes to `file` how KWOK simulates nodes and pods, from the pinned KWOK module. */
export async function writeKwokStages(file: string): Promise<void> {
  const module = await kwokModuleFolder();
  const documents = STAGES.map((stage) => readFileSync(join(module, "kustomize", "stage", stage), "utf8"));
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, joinDocuments(documents));
  renameSync(temporary, file);
}

async function kwokModuleFolder(): Promise<string> {
  const options = { cwd: goFolder("kwok"), env: goEnvironment() };
  try {
    await run("go", ["mod", "download", "sigs.k8s.io/kwok"], options);
    const { stdout } = await run("go", ["list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], options);
    return stdout.trim();
  } catch (error) {
    throw new ControlPlaneError("EK_CLUSTER_BUILD_FAILED", "Go could not fetch the module sigs.k8s.io/kwok", {
      cause: error,
    });
  }
}
