import { hash } from "node:crypto";

/** The last eight bytes of the MD5 of `value`, as a number, modulo `modulus`, in decimal. */
export function hashModulo(value: string, modulus: bigint): string {
  return (hash("md5", value, "buffer").readBigUInt64BE(8) % modulus).toString();
}
