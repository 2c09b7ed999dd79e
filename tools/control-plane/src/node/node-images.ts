import { readFileSync } from "node:fs";
import { type Image, writeImageArchive } from "../image/image-archive.ts";
import type { NodeToolset } from "../toolset.ts";

/** Holds the namespaces of each pod. */
export const PAUSE_IMAGE = "localhost/evenkeel/pause:1";
export const COREDNS_IMAGE = "localhost/evenkeel/coredns:1";

/** Archives of the images for the pods' namespaces and for DNS. Both programs are static: an image is one file. */
export function nodeImages(toolset: NodeToolset): { readonly file: string; readonly write: () => void }[] {
  const ofOneFile = (name: string, program: "pause" | "coredns"): Image => ({
    name,
    layers: [[{ path: program, mode: 0o755, content: readFileSync(toolset.path(program)) }]],
    config: { Entrypoint: [`/${program}`], User: "65532:65532" },
  });
  return [
    {
      file: toolset.images.pause,
      write: () => writeImageArchive(toolset.images.pause, ofOneFile(PAUSE_IMAGE, "pause")),
    },
    {
      file: toolset.images.coredns,
      write: () => writeImageArchive(toolset.images.coredns, ofOneFile(COREDNS_IMAGE, "coredns")),
    },
  ];
}
