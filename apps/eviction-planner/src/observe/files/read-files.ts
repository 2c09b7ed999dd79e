import { createReadStream } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { explain } from "@evenkeel/runtime";
import { BadFile } from "../../errors.ts";
import { CollectedObjects } from "../cluster/collected-objects.ts";
import { fieldFault } from "./field-faults.ts";
import { type FoundObject, jsonObjects } from "./json-objects.ts";
import { PLAN_SNAPSHOT, type SavedSnapshot, savedSnapshot } from "./saved-snapshot.ts";

export interface ReadFilesOptions {
  /** Standard input, which the file `-` names. */
  readonly stdin: () => AsyncIterable<Buffer | string>;
  readonly signal: AbortSignal;
  /** Called after each chunk with the bytes that were read of all files. */
  readonly onProgress?: (bytes: number) => void;
}

/** What files contain: the objects of a cluster, or a snapshot that was saved. */
export type FileContents =
  | { readonly kind: "objects"; readonly collected: CollectedObjects }
  | { readonly kind: "snapshot"; readonly saved: SavedSnapshot };

/** Bytes that are read at once: few enough that their objects do not block the event loop for long. */
const CHUNK = 2 ** 18;

/**
 * Reads what `kubectl get … -o json` and `kubectl get --raw` wrote, compressed or not, or what `--save` wrote. Files
 * are read as streams, so they may be larger than memory.
 */
export async function readFiles(files: readonly string[], options: ReadFilesOptions): Promise<FileContents> {
  const { signal, onProgress = () => undefined } = options;
  const collected = new CollectedObjects();
  let bytes = 0;
  for (const file of files) {
    const counted = (length: number): void => onProgress((bytes += length));
    for await (const found of jsonObjects(file, inflated(file, opened(file, options), counted))) {
      signal.throwIfAborted();
      if (found.object.kind === PLAN_SNAPSHOT) return { kind: "snapshot", saved: savedSnapshot(found) };
      add(collected, found);
    }
  }
  if (collected.count("nodes") === 0)
    throw new BadFile({ file: files.join(", "), byte: 0, fault: "no Node was found: add `nodes` to kubectl get" });
  return { kind: "objects", collected };
}

function add(collected: CollectedObjects, { object, file, byte, path }: FoundObject): void {
  const fault = fieldFault(object);
  if (fault !== undefined) throw new BadFile({ file, byte, fault: `${path}${fault} (${object.kind ?? ""})` });
  collected.add(object);
}

async function* opened(file: string, { stdin }: ReadFilesOptions): AsyncGenerator<Buffer, void, undefined> {
  try {
    const chunks = file === "-" ? stdin() : createReadStream(file, { highWaterMark: CHUNK });
    for await (const chunk of chunks as AsyncIterable<Buffer | string>)
      yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw new BadFile({ file, byte: 0, fault: explain(error) });
  }
}

/** The chunks as they are, or unpacked if they begin as gzip does. */
async function* inflated(
  file: string,
  chunks: AsyncGenerator<Buffer, void, undefined>,
  counted: (length: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  const first = await chunks.next();
  if (first.done === true) return;
  const all = counting(first.value, chunks, counted);
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all;
    return;
  }
  const unpacked = createGunzip({ chunkSize: CHUNK });
  pipeline(Readable.from(all), unpacked, () => undefined);
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    if (error instanceof BadFile) throw error;
    throw new BadFile({ file, byte: 0, fault: `it is not complete gzip (${explain(error)})` });
  }
}

async function* counting(
  first: Buffer,
  chunks: AsyncIterable<Buffer>,
  counted: (length: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  counted(first.length);
  yield first;
  for await (const chunk of chunks) {
    counted(chunk.length);
    yield chunk;
  }
}
