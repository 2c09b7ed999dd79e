import { constants, type FileHandle, open, realpath } from "node:fs/promises";
import { sep } from "node:path";
import { LARGEST_DOCUMENT } from "./group-document.ts";

/**
 * Reads a file that lies below `folder`, also after every symbolic link is followed. The links that Kubernetes makes in
 * a mounted ConfigMap stay inside.
 */
export async function readConfined(path: string, folder: string | undefined): Promise<string> {
  if (folder === undefined) throw new Error("the flag --discovery-files is not set");
  const [real, root] = await Promise.all([realpath(path), realpath(folder)]);
  if (!real.startsWith(root + sep)) throw new Error(`${path} is a link to outside of ${folder}`);
  // A link that is put in place of the file meanwhile is not followed, and a pipe does not block.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await readAll(file, path);
  } finally {
    await file.close();
  }
}

async function readAll(file: FileHandle, path: string): Promise<string> {
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  if (stats.size > LARGEST_DOCUMENT) throw new Error(`${path} is larger than ${LARGEST_DOCUMENT} bytes`);
  return await file.readFile("utf8");
}
