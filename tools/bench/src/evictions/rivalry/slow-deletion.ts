import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBinaries, foldersFrom } from "@evenkeel/control-plane";

const DELETES_AT_ONCE = "  next:\n    delete: true";

/**
 * The programs of a cluster in which KWOK removes a deleted pod only after some time, as a kubelet with a grace period
 * does.
 */
export async function slowDeletion(
  milliseconds: number,
  progress: (line: string) => void,
): Promise<Disposable & { readonly folder: string }> {
  const { bin, stages } = await buildBinaries({ folders: foldersFrom(process.env), progress });
  const folder = mkdtempSync(join(tmpdir(), "bench-toolset-"));
  symlinkSync(bin, join(folder, "bin"));
  writeFileSync(join(folder, "kwok-stages.yaml"), delayed(readFileSync(stages, "utf8"), milliseconds));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** KWOK's stages with a delay before a deleted pod is removed. */
export function delayed(stages: string, milliseconds: number): string {
  if (stages.split(DELETES_AT_ONCE).length !== 2) throw new Error("KWOK's stages have no single stage that deletes");
  return stages.replace(
    DELETES_AT_ONCE,
    () => `  delay:\n    durationMilliseconds: ${milliseconds}\n${DELETES_AT_ONCE}`,
  );
}
