import { join } from "node:path";
import { root } from "@evenkeel/charts";
import { writeImageArchive } from "@evenkeel/control-plane";
import { nodeLayer, NONROOT, programLayer } from "./node-layer.ts";

/** Debian's Redis of this machine, for pods of tests. */
export const REDIS_IMAGE = "localhost/evenkeel/redis:debian";

const PROGRAM = "/usr/bin/redis-server";

/** Writes the image; it remembers nothing. */
export function writeRedisImage(): string {
  const file = join(root, "tools/real-node/dist/redis-image.tar");
  const node = nodeLayer();
  const below = new Set(node.map(({ path }) => path));
  writeImageArchive(file, {
    name: REDIS_IMAGE,
    layers: [node, programLayer(PROGRAM).filter(({ path }) => !below.has(path))],
    config: {
      User: `${NONROOT}:${NONROOT}`,
      Entrypoint: [PROGRAM, "--save", "", "--appendonly", "no", "--bind", "0.0.0.0", "--protected-mode", "no"],
    },
  });
  return file;
}
