import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** A file as it is sent, in each encoding that was built. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzip?: Buffer | undefined;
  readonly br?: Buffer | undefined;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/**
 * The built files of a dashboard, in memory: no path of a request is ever read from the disk. They are read on first
 * use, and again when `index.html` has changed, so that a build takes effect without a restart.
 */
export class AssetFiles {
  readonly #folder: string;
  #read: { readonly version: number; readonly assets: ReadonlyMap<string, Asset> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `index.html`, or nothing while there is no build. */
  async index(): Promise<Asset | undefined> {
    return (await this.#fresh())?.get("index.html");
  }

  /** A file of the folder `assets`. */
  async asset(name: string): Promise<Asset | undefined> {
    return (this.#read?.assets ?? (await this.#fresh()))?.get(`assets/${name}`);
  }

  async #fresh(): Promise<ReadonlyMap<string, Asset> | undefined> {
    const version = await stat(join(this.#folder, "index.html")).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (version === undefined) return undefined;
    if (this.#read?.version !== version) this.#read = { version, assets: await readAssets(this.#folder) };
    return this.#read.assets;
  }
}

async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const files = new Map<string, Buffer>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1).replaceAll("\\", "/"), await readFile(path));
  }
  const assets = new Map<string, Asset>();
  for (const [name, plain] of files) {
    const type = types[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    assets.set(name, { type, etag, plain, gzip: files.get(`${name}.gz`), br: files.get(`${name}.br`) });
  }
  return assets;
}
