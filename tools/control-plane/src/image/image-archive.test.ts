import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { writeImageArchive } from "./image-archive.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "image-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("an archive names its image, its configuration and its layers by their digests", () => {
  const file = join(folder, "new/image.tar");
  const layers = [[{ path: "bin/true", mode: 0o755, content: "#!" }], [{ path: "app/main", content: "main" }]];
  writeImageArchive(file, { name: "evenkeel/tide:1", layers, config: { User: "65532:65532", Cmd: ["/app/main"] } });
  expect(readdirSync(join(folder, "new"))).toEqual(["image.tar"]);

  execFileSync("tar", ["--extract", "-f", file, "-C", folder]);
  const json = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));
  const [image] = json("manifest.json") as [{ Config: string; RepoTags: string[]; Layers: string[] }];
  const digest = (path: string): string =>
    createHash("sha256")
      .update(readFileSync(join(folder, path)))
      .digest("hex");
  expect(image.RepoTags).toEqual(["evenkeel/tide:1"]);
  expect(image.Config).toBe(`${digest(image.Config)}.json`);
  expect(json(image.Config)).toMatchObject({
    os: "linux",
    config: { User: "65532:65532", Cmd: ["/app/main"] },
    rootfs: { type: "layers", diff_ids: image.Layers.map((layer) => `sha256:${digest(layer)}`) },
  });
});
