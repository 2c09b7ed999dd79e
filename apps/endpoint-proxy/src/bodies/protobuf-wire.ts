/** A field as it stands on the wire. */
export interface WireField {
  readonly number: number;
  /** Tag and value. */
  readonly whole: Buffer;
  /** The content of text, bytes, maps and messages; undefined for numbers. */
  readonly content: Buffer | undefined;
  /** The value of a varint; undefined for all else. */
  readonly varint: bigint | undefined;
}

/** Bytes that are no protobuf message, and where. */
export class ProtobufFault extends SyntaxError {
  constructor(what: string, offset: number) {
    super(`${what} in protobuf at byte ${offset}`);
  }
}

/** The fields of a message in order. Unknown ones are there too, so that an edit keeps them. */
export function readFields(message: Buffer): readonly WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  while (at < message.length) {
    const start = at;
    const tag = readVarint(message, at);
    at = tag.next;
    const number = Number(tag.value >> 3n);
    if (number === 0) throw new ProtobufFault("field number 0", start);
    const wireType = Number(tag.value & 7n);
    let content: Buffer | undefined;
    let varint: bigint | undefined;
    if (wireType === 0) ({ value: varint, next: at } = readVarint(message, at));
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = readVarint(message, at);
      at = length.next + Number(length.value);
      content = message.subarray(length.next, at);
    } else throw new ProtobufFault(`wire type ${wireType}`, start);
    if (at > message.length) throw new ProtobufFault("a field that is cut short", start);
    fields.push({
      number,
      whole: message.subarray(start, at),
      content,
      varint,
    });
  }
  return fields;
}

export function varintField(number: number, value: number): Buffer {
  return Buffer.concat([writeVarint(BigInt(number) << 3n), writeVarint(BigInt.asUintN(64, BigInt(value)))]);
}

export function bytesField(number: number, content: Buffer): Buffer {
  return Buffer.concat([writeVarint((BigInt(number) << 3n) | 2n), writeVarint(BigInt(content.length)), content]);
}

export function textField(number: number, text: string): Buffer {
  return bytesField(number, Buffer.from(text));
}

function readVarint(message: Buffer, from: number): { readonly value: bigint; readonly next: number } {
  let value = 0n;
  for (let index = 0; index < 10; index += 1) {
    const byte = message[from + index];
    if (byte === undefined) throw new ProtobufFault("a number that is cut short", from);
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value, next: from + index + 1 };
  }
  throw new ProtobufFault("a number that is too long", from);
}

function writeVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
