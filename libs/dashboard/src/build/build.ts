import { createHash } from "node:crypto";
import { access, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "esbuild";
import { indexPage } from "./index-page.ts";

/** What was built, with each file's size in bytes as a browser gets it with gzip. */
export interface Built {
  readonly folder: string;
  readonly gzip: Readonly<Record<string, number>>;
}

const views = ["dashboard/view.tsx", "dashboard/view.ts"];

/**
 * Bundles the shell and the view of the app in `project` (its default export of `dashboard/view.tsx`; an app without
 * one gets the shell alone) into `folder`: an index that names its files by their content, each also compressed.
 */
export async function buildDashboard(project: string, folder = join(project, "dist", "dashboard")): Promise<Built> {
  const view = await firstOf(views.map((file) => join(project, file)));
  const shell = join(import.meta.dirname, "../browser/index.ts");
  const entry = [
    `import { start } from ${JSON.stringify(shell)};`,
    view === undefined ? "start();" : `import view from ${JSON.stringify(view)}; start(view);`,
  ].join("\n");
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: project, sourcefile: "dashboard.ts", loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: ["chrome120", "firefox121", "safari17.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    outdir: "assets",
    entryNames: "app-[hash]",
    logLevel: "silent",
  });
  const files = new Map<string, Uint8Array>(
    outputFiles.map(({ path, contents }) => [`assets/${basename(path)}`, contents]),
  );
  const icon = await readFile(join(import.meta.dirname, "../browser/keel.svg"));
  const hash = createHash("sha256").update(icon).digest("hex").slice(0, 8).toUpperCase();
  files.set(`assets/keel-${hash}.svg`, icon);
  const named = (pattern: RegExp) => [...files.keys()].find((file) => pattern.test(file)) ?? "";
  const page = indexPage({ script: named(/\.js$/), style: named(/\.css$/), icon: named(/\.svg$/) });
  files.set("index.html", Buffer.from(page));
  return { folder, gzip: await write(folder, files) };
}

/** Writes all files to a temporary folder and then renames it, so that no reader sees half a build. */
async function write(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<Record<string, number>> {
  const fresh = `${folder}.fresh`;
  const sizes: Record<string, number> = {};
  await rm(fresh, { recursive: true, force: true });
  await mkdir(join(fresh, "assets"), { recursive: true });
  for (const [name, content] of files) {
    const zipped = await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION });
    const brotli = await promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
    });
    await writeFile(join(fresh, name), content);
    await writeFile(join(fresh, `${name}.gz`), zipped);
    await writeFile(join(fresh, `${name}.br`), brotli);
    sizes[name] = zipped.length;
  }
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
  return sizes;
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (exists) return path;
  }
  return undefined;
}
