import { badRequest } from "../status.ts";

/** A field as it is on the wire: a varint, or bytes. */
export type WireField =
  | { readonly number: number; readonly varint: bigint; readonly bytes?: undefined }
  | { readonly number: number; readonly bytes: Buffer; readonly varint?: undefined };

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** The fields of a message, in their order. Fails with BadRequest if it is cut off or not protobuf. */
export function* wireFields(message: Buffer): Generator<WireField, void, undefined> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw badRequest("the body is not valid protobuf: a number is cut off");
  };
  const take = (length: number): Buffer => {
    if (length > message.length - at) throw badRequest("the body is not valid protobuf: a field is cut off");
    return message.subarray(at, (at += length));
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    switch (tag & 7) {
      case VARINT:
        yield { number, varint: varint() };
        break;
      case BYTES:
        yield { number, bytes: take(Number(varint())) };
        break;
      case FIXED64:
        yield { number, bytes: take(8) };
        break;
      case FIXED32:
        yield { number, bytes: take(4) };
        break;
      default:
        throw badRequest(`the body is not valid protobuf: it has a field of type ${tag & 7}`);
    }
  }
}

/** The last value of a field that is bytes. */
export function bytesOf(message: Buffer, wanted: number): Buffer | undefined {
  let found: Buffer | undefined;
  for (const { number, bytes } of wireFields(message)) if (number === wanted) found = bytes ?? found;
  return found;
}

/** The last value of a field that is a number; 0 if it is absent. */
export function numberOf(message: Buffer, wanted: number): number {
  let found = 0n;
  for (const { number, varint } of wireFields(message)) if (number === wanted) found = varint ?? found;
  return Number(BigInt.asIntN(64, found));
}
