/** A file, or a folder if it has no content. */
export interface TarEntry {
  /** Relative to the root of the archive, without a slash at either end. */
  readonly path: string;
  /** Permission bits. Default 0o644 for a file, 0o755 for a folder. */
  readonly mode?: number;
  readonly content?: Buffer | string;
}

const BLOCK = 512;

/** Lengths of the two fields for a path in the ustar format. */
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/**
 * A tar archive (POSIX ustar) of these entries and their parent folders. Everything belongs to root and is dated 1970,
 * so that the same entries always result in the same bytes.
 */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const named = new Set(entries.map(({ path }) => path));
  const parents = [...new Set(entries.flatMap(({ path }) => foldersAbove(path)))].filter((path) => !named.has(path));
  const all = [...parents.map((path): TarEntry => ({ path })), ...entries];
  all.sort((a, b) => (a.path < b.path ? -1 : 1));
  // Two empty blocks end an archive.
  return Buffer.concat([...all.flatMap(blocksOf), Buffer.alloc(2 * BLOCK)]);
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function blocksOf({ path, mode, content }: TarEntry): Buffer[] {
  if (content === undefined) return [header(`${path}/`, mode ?? 0o755, 0, "5")];
  const bytes = Buffer.from(content);
  return [header(path, mode ?? 0o644, bytes.length, "0"), bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))];
}

function header(path: string, mode: number, size: number, type: "0" | "5"): Buffer {
  const { prefix, name } = splitPath(path);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(name, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  // The checksum is computed with spaces in its own field.
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  block.write("ustar\0" + "00", 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { prefix: "", name: path };
  for (let at = path.indexOf("/"); at > 0 && at < path.length - 1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= PREFIX_BYTES && Buffer.byteLength(name) <= NAME_BYTES) return { prefix, name };
  }
  throw new Error(`the path is too long for a tar archive: ${path}`);
}
