import { createHash } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TarEntry, tarOf } from "./tar.ts";

/** The container configuration of the OCI image specification. */
export interface ImageConfig {
  /** Numeric, such as "65532:65532", so that the kubelet can verify that it is not root. */
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
}

export interface Image {
  /** Name and tag, such as evenkeel/scale-resolver:0.1.0. */
  readonly name: string;
  /** From the lowest. Images with equal layers share them. */
  readonly layers: readonly (readonly TarEntry[])[];
  readonly config: ImageConfig;
}

/** Names of processor architectures in images. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * Writes an image of this machine's architecture as an archive for `docker load`, `podman load` and `ctr images
 * import`. No container engine is needed.
 */
export function writeImageArchive(file: string, image: Image): void {
  const layers = image.layers.map((entries) => tarOf(entries));
  const config = JSON.stringify({
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: "linux",
    created: new Date(0).toISOString(),
    config: image.config,
    rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${digestOf(layer)}`) },
  });
  const configName = `${digestOf(config)}.json`;
  const layerName = (layer: Buffer): string => `${digestOf(layer)}/layer.tar`;
  const manifest = [{ Config: configName, RepoTags: [image.name], Layers: layers.map(layerName) }];
  const archive = tarOf([
    { path: "manifest.json", content: JSON.stringify(manifest) },
    { path: configName, content: config },
    ...layers.map((layer) => ({ path: layerName(layer), content: layer })),
  ]);
  mkdirSync(dirname(file), { recursive: true });
  // Writes a temporary file first, so that a file with the final name is always complete.
  writeFileSync(`${file}.${process.pid}`, archive);
  renameSync(`${file}.${process.pid}`, file);
}

function digestOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
