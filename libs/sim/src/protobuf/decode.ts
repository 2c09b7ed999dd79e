import type { Fields } from "../json.ts";
import { badRequest, notSimulated } from "../status.ts";
import { messages } from "./messages.ts";
import { bytesOf, numberOf, type WireField, wireFields } from "./wire.ts";

/** What every protobuf body of Kubernetes starts with. */
const MAGIC = Buffer.from("k8s\0");

interface Field {
  readonly name: string;
  readonly type: string;
}

const tables = new Map(Object.entries(messages).map(([name, text]) => [name, tableOf(text)]));

function tableOf(text: string): ReadonlyMap<number, Field> {
  const fields = text === "" ? [] : text.split(", ").map((field) => field.split(" "));
  return new Map(fields.map(([number = "", name = "", type = ""]) => [Number(number), { name, type }]));
}

/**
 * A protobuf body as the JSON object that means the same; undefined if it is of a kind that no table describes. Fails
 * with BadRequest if it is not valid, and with 501 if it has a field that the tables leave out.
 */
export function decodeProtobuf(body: Buffer): Fields | undefined {
  if (!body.subarray(0, 4).equals(MAGIC)) throw badRequest("the body does not start as protobuf of Kubernetes does");
  const envelope = body.subarray(4);
  const type = bytesOf(envelope, 1) ?? Buffer.alloc(0);
  const [apiVersion = "", kind = ""] = [1, 2].map((number) => bytesOf(type, number)?.toString("utf8"));
  if (!tables.has(kind)) return undefined;
  return { apiVersion, kind, ...decodeMessage(kind, bytesOf(envelope, 2) ?? Buffer.alloc(0)) };
}

function decodeMessage(message: string, bytes: Buffer): Fields {
  const table = tables.get(message);
  if (table === undefined) throw notSimulated(`protobuf of ${message}`);
  const decoded: Record<string, unknown> = {};
  for (const field of wireFields(bytes)) {
    const known = table.get(field.number);
    if (known === undefined) throw notSimulated(`field ${field.number} of ${message} in protobuf`);
    put(decoded, known, field);
  }
  return decoded;
}

/** Adds a field as Go's JSON would have it: what is empty and no pointer is left out. */
function put(decoded: Record<string, unknown>, { name, type }: Field, field: WireField): void {
  const bytes = field.bytes ?? Buffer.alloc(0);
  if (name === ".") Object.assign(decoded, decodeMessage(type, bytes));
  else if (type.startsWith("*")) {
    const list = (decoded[name] ??= []) as unknown[];
    list.push(decodeValue(type.slice(1), field));
  } else if (type.startsWith("%")) {
    const map = (decoded[name] ??= {}) as Record<string, unknown>;
    const key = bytesOf(bytes, 1)?.toString("utf8") ?? "";
    map[key] = decodeValue(type.slice(1), { number: 2, bytes: bytesOf(bytes, 2) ?? Buffer.alloc(0) });
  } else {
    const pointer = type.endsWith("?");
    const value = decodeValue(pointer ? type.slice(0, -1) : type, field);
    if (value !== undefined && (pointer || (value !== "" && value !== 0 && value !== false))) decoded[name] = value;
  }
}

function decodeValue(type: string, { bytes = Buffer.alloc(0), varint = 0n }: WireField): unknown {
  switch (type) {
    case "s":
      return bytes.toString("utf8");
    case "i":
      return Number(BigInt.asIntN(64, varint));
    case "b":
      return varint !== 0n;
    case "y":
      return bytes.toString("base64");
    case "{}":
      return undefined;
    case "Quantity":
      return bytesOf(bytes, 1)?.toString("utf8") ?? "0";
    case "IntOrString":
      return numberOf(bytes, 1) === 0 ? numberOf(bytes, 2) : (bytesOf(bytes, 3)?.toString("utf8") ?? "");
    case "Time":
      // The zero time is an empty message.
      return bytes.length === 0 ? undefined : new Date(numberOf(bytes, 1) * 1000).toISOString().replace(".000Z", "Z");
    default:
      return decodeMessage(type, bytes);
  }
}
