import { readFile } from "node:fs/promises";

/** The level in a file, or null when there is none that can be believed: no file, no number, out of range. */
export async function readLevel(file: string): Promise<number | null> {
  const text = await readFile(file, "utf8").catch(() => "");
  const level = Number(text.trim() || NaN);
  return level >= 0 && level <= 100 ? level : null;
}
