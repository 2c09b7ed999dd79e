import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { appVersion, charts, type FinalStage, finalStage, root } from "@evenkeel/charts";
import { type Image, type TarEntry, writeImageArchive } from "@evenkeel/control-plane";
import { NODE_PROGRAM, nodeLayer, NONROOT, programLayer } from "./node-layer.ts";

/** For programs in a container that call Node by its name. */
const NODE_PATH = "PATH=/usr/local/bin:/usr/bin:/bin:/nodejs/bin";
const USER = `${NONROOT}:${NONROOT}`;

/** Node, and tar for `kubectl cp`, for pods of tests: the program comes by `node -e` or from a ConfigMap. */
export const NODE_IMAGE = "localhost/evenkeel/node:24";

export interface ImageNaming {
  /** Put before the name. */
  readonly registry?: string;
  /** Default: the version that the chart installs. */
  readonly tag?: string;
}

/** The name of a service's image, as its chart writes it. */
export function imageName(service: string, { registry, tag }: ImageNaming = {}): string {
  return `${registry ? `${registry}/` : ""}evenkeel/${service}:${tag ?? appVersion(charts, service)}`;
}

/** Where the archive of a service's image is written. */
export function archiveOf(service: string): string {
  return join(root, "apps", service, "dist/image.tar");
}

/**
 * Writes the image of a service without a container engine: what the last stage of the Dockerfile copies, on Node and
 * its libraries from this machine. The bundle and the dashboard must be built.
 */
export function writeServiceImage(service: string, naming: ImageNaming = {}): string {
  const stage = finalStage(readFileSync(join(root, "infra/docker/Dockerfile"), "utf8"), { SERVICE: service });
  const file = archiveOf(service);
  writeImageArchive(file, serviceImage(imageName(service, naming), stage));
  return file;
}

/** Where the archive of that image is written. */
const nodeImageArchive = join(root, "tools/real-node/dist/node-image.tar");

/** Writes the image with Node and tar. */
export function writeNodeImage(): string {
  writeImageArchive(nodeImageArchive, {
    name: NODE_IMAGE,
    layers: [nodeLayer(), programLayer("/usr/bin/tar")],
    config: { User: USER, Env: [NODE_PATH], Entrypoint: [NODE_PROGRAM] },
  });
  return nodeImageArchive;
}

/** The collector of tools/telemetry alone, for pods of tests. */
export const COLLECTOR_IMAGE = "localhost/evenkeel/otelcol:0.164";

/** Where the archive of the image with the collector alone is written. */
const collectorImageArchive = join(root, "tools/real-node/dist/collector-image.tar");

/** Writes the image with the collector alone; `program` is the path of its binary, which needs no library. */
export function writeCollectorImage(program: string): string {
  writeImageArchive(collectorImageArchive, {
    name: COLLECTOR_IMAGE,
    layers: [
      [
        { path: "otelcol", mode: 0o755, content: readFileSync(program) },
        { path: "tmp", mode: 0o1777 },
      ],
    ],
    config: { User: USER, Entrypoint: ["/otelcol"] },
  });
  return collectorImageArchive;
}

function serviceImage(name: string, stage: FinalStage): Image {
  if (stage.user !== "nonroot" || stage.entry[0] !== NODE_PROGRAM) {
    throw new Error(
      "infra/docker/Dockerfile has another user or another entry point than the images that are built without it",
    );
  }
  const files = stage.copies.flatMap(({ source, target }) => copied(join(root, source), target.slice(1)));
  return {
    name,
    layers: [nodeLayer(), files],
    config: {
      User: USER,
      Env: Object.entries(stage.env).map(([variable, value]) => `${variable}=${value}`),
      Entrypoint: stage.entry,
      Cmd: stage.command,
      WorkingDir: stage.folder,
    },
  };
}

function copied(source: string, target: string): TarEntry[] {
  if (!existsSync(source)) throw new Error(`${source} is missing; build it with: make images`);
  if (!statSync(source).isDirectory()) return [{ path: target, content: readFileSync(source) }];
  return readdirSync(source).flatMap((name) => copied(join(source, name), `${target}/${name}`));
}
