/** What a client of HTTP/2 says first (RFC 9113, section 3.4), before its settings. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;

/** Of SETTINGS. */
export const ACK = 1;
export const END_STREAM = 1;
const END_HEADERS = 4;

export type Field = readonly [name: string, value: string];

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The head of a request or an answer, whole in one frame. */
export function headersFrame(stream: number, flags: number, fields: readonly Field[]): Buffer {
  const block = Buffer.concat(fields.map(([name, value]) => literal(name, value)));
  return frame(HEADERS, flags | END_HEADERS, stream, block);
}

/** A payload of one or more numbers, as RST_STREAM, GOAWAY and WINDOW_UPDATE have. */
export function numbers(...values: readonly number[]): Buffer {
  const payload = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) payload.writeUInt32BE(value, 4 * index);
  return payload;
}

export interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** The whole frames in what came from a peer, after its preface if it is a client. */
export function* framesIn(bytes: Buffer): Generator<Frame> {
  let at = bytes.indexOf(PREFACE) === 0 ? PREFACE.length : 0;
  while (at + 9 <= bytes.length) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) return;
    yield { type: bytes.readUInt8(at + 3), stream: bytes.readUInt32BE(at + 5), payload: bytes.subarray(at + 9, end) };
    at = end;
  }
}

/** A field that is not indexed and not compressed (RFC 7541, 6.2.2). */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  if (bytes.length >= 127) throw new RangeError("a text of this length needs more than one byte for it");
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}
