import type { KubeObject } from "@evenkeel/kube";
import { explain } from "@evenkeel/runtime";
import { BadFile } from "../../errors.ts";
import { JsonFault, type JsonPart, jsonDocuments } from "./json-documents.ts";

/** An object and where it was found. */
export interface FoundObject {
  readonly object: KubeObject;
  readonly file: string;
  readonly byte: number;
  /** The path before its fields, such as `items[12].`; empty for an object that is a document of its own. */
  readonly path: string;
}

/**
 * The objects of a stream of Kubernetes lists and objects, as `kubectl get -o json` and the API server write them. A
 * list names the kind of its items once; here each has it. Whatever is wrong is a BadFile.
 */
export async function* jsonObjects(
  file: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<FoundObject, void, undefined> {
  let listed: Envelope = {};
  try {
    for await (const part of jsonDocuments(chunks)) {
      if (part.kind === "item") {
        if (part.index === 0) listed = parsed(file, part.byte, part.before()) as Envelope;
        const path = `items[${part.index}].`;
        yield { object: objectOf(file, part, path, listed), file, byte: part.byte, path };
      } else {
        const found = { object: objectOf(file, part, "", {}), file, byte: part.byte, path: "" };
        if (!isList(found.object)) yield found;
        listed = {};
      }
    }
  } catch (error) {
    if (error instanceof JsonFault) throw new BadFile({ file, byte: error.byte, fault: error.message });
    throw error;
  }
}

interface Envelope {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

function isList({ kind = "" }: KubeObject): boolean {
  return kind.endsWith("List");
}

function objectOf(file: string, { byte, text }: JsonPart, path: string, listed: Envelope): KubeObject {
  const value = parsed(file, byte, text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadFile({ file, byte, fault: `${path.slice(0, -1) || "the document"} is not an object` });
  if (typeof (value as Envelope).kind === "string") return value as KubeObject;
  const kind = kindOfItems(listed);
  if (kind === undefined)
    throw new BadFile({ file, byte, fault: `${path}kind is missing: use the output of kubectl get -o json` });
  return { ...value, kind, apiVersion: listed.apiVersion } as KubeObject;
}

/** `PodMetricsList` has items of the kind PodMetrics. A List has items of any kind, and names none. */
function kindOfItems({ kind }: Envelope): string | undefined {
  return typeof kind === "string" && kind !== "List" ? kind.replace(/List$/, "") : undefined;
}

function parsed(file: string, byte: number, text: Buffer): unknown {
  try {
    return JSON.parse(text.toString("utf8"));
  } catch (error) {
    throw new BadFile({ file, byte, fault: `it is not JSON (${explain(error)})` });
  }
}
