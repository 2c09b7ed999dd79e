import { at, type Json, type JsonFields, type Path } from "./json-text.ts";
import { type FieldSchema, type MessageSchema, QUANTITY_TEXT } from "./protobuf-schema.ts";
import { bytesField, readFields, textField, varintField, type WireField } from "./protobuf-wire.ts";

/** What a path is set to: a text, a number, or a list of texts or of messages. */
export type BodyValue = string | number | readonly string[] | readonly JsonFields[];

/** What a message says, as far as the schema names it, in the form of Kubernetes' JSON. */
export function viewOf(message: Buffer, schema: MessageSchema): Json {
  const fields = readFields(message);
  const entries = Object.entries(schema).flatMap(([name, field]): [string, Json][] => {
    const found = fields.filter(({ number }) => number === field.number);
    const value = found.length === 0 ? undefined : valueOf(found, field);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

function valueOf(found: readonly WireField[], { type, message = {} }: FieldSchema): Json | undefined {
  const last = found.at(-1);
  switch (type) {
    case "text":
      return last?.content?.toString();
    case "int":
      return last?.varint === undefined ? undefined : Number(BigInt.asIntN(64, last.varint));
    case "bool":
      return last?.varint === undefined ? undefined : last.varint !== 0n;
    case "message":
      return viewOf(joined(found), message);
    case "list":
      return found.map(({ content }) => viewOf(content ?? Buffer.alloc(0), message));
    case "map":
      return Object.fromEntries(found.map((entry) => entryOf(entry, message)));
    case "opaque":
      return undefined;
  }
}

function entryOf({ content = Buffer.alloc(0) }: WireField, message: MessageSchema): [string, Json] {
  const parts = readFields(content);
  const key = parts.findLast(({ number }) => number === 1)?.content?.toString() ?? "";
  const value = parts.findLast(({ number }) => number === 2)?.content ?? Buffer.alloc(0);
  if (message[QUANTITY_TEXT] === undefined) return [key, value.toString()];
  return [key, at(viewOf(value, message), [QUANTITY_TEXT]) ?? ""];
}

/** A message with the value at the path set. All other fields keep their bytes. */
export function setIn(message: Buffer, schema: MessageSchema, path: Path, value: BodyValue): Buffer {
  const [name = "", ...rest] = path;
  const field = fieldOf(schema, name);
  const fields = readFields(message);
  const found = fields.filter(({ number }) => number === field.number);
  if (field.type === "map") {
    const [key = ""] = rest;
    const entry = Buffer.concat([textField(1, key), textField(2, typeof value === "object" ? "" : String(value))]);
    const others = fields.filter((one) => one.number !== field.number || entryOf(one, {})[0] !== key);
    return Buffer.concat([...others.map(({ whole }) => whole), bytesField(field.number, entry)]);
  }
  const inner =
    rest.length === 0
      ? written(field, value)
      : bytesField(field.number, setIn(joined(found), field.message ?? {}, rest, value));
  return replaced(fields, field.number, inner);
}

function written({ number, message = {} }: FieldSchema, value: BodyValue): Buffer {
  if (typeof value === "number") return varintField(number, value);
  if (typeof value === "string") return textField(number, value);
  return Buffer.concat(
    value.map((one) =>
      typeof one === "string" ? textField(number, one) : bytesField(number, messageOf(one, message)),
    ),
  );
}

/** A message of texts and booleans. Fields that the schema does not name are left out. */
function messageOf(fields: JsonFields, schema: MessageSchema): Buffer {
  const parts = Object.entries(schema).map(([name, { number }]) => {
    const value = fields[name];
    if (typeof value === "boolean") return varintField(number, Number(value));
    return typeof value === "string" ? textField(number, value) : Buffer.alloc(0);
  });
  return Buffer.concat(parts);
}

/** A message without what is at the path. */
export function removeIn(message: Buffer, schema: MessageSchema, path: Path): Buffer {
  const [name = "", ...rest] = path;
  const field = schema[name];
  const fields = readFields(message);
  if (field === undefined || !fields.some(({ number }) => number === field.number)) return message;
  const found = fields.filter(({ number }) => number === field.number);
  if (rest.length === 0) return replaced(fields, field.number, Buffer.alloc(0));
  if (field.type === "map") {
    const kept = fields.filter((one) => one.number !== field.number || entryOf(one, {})[0] !== rest[0]);
    return Buffer.concat(kept.map(({ whole }) => whole));
  }
  return replaced(fields, field.number, bytesField(field.number, removeIn(joined(found), field.message ?? {}, rest)));
}

function fieldOf(schema: MessageSchema, name: string): FieldSchema {
  const field = schema[name];
  if (field === undefined) throw new TypeError(`the protobuf schema has no field ${name}`);
  return field;
}

/** A message that occurs several times is one message: its fields are joined. */
function joined(found: readonly WireField[]): Buffer {
  return Buffer.concat(found.map(({ content }) => content ?? Buffer.alloc(0)));
}

function replaced(fields: readonly WireField[], number: number, by: Buffer): Buffer {
  const index = fields.findIndex((field) => field.number === number);
  const before = index === -1 ? fields : fields.slice(0, index);
  const after = index === -1 ? [] : fields.slice(index).filter((field) => field.number !== number);
  return Buffer.concat([...before.map(({ whole }) => whole), by, ...after.map(({ whole }) => whole)]);
}
