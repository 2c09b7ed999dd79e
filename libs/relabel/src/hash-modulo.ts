import { hash } from "node:crypto";

/** Below it, the sum and the products here are exact as floating-point numbers. */
const small = 2n ** 21n;

/** The last eight bytes of the MD5 of `value`, as a number, modulo `modulus`, in decimal. */
export function hashModulo(value: string, modulus: bigint): string {
  const digest = hash("md5", value, "buffer");
  if (modulus >= small) return (digest.readBigUInt64BE(8) % modulus).toString();
  const divisor = Number(modulus);
  return String(((digest.readUInt32BE(8) % divisor) * 2 ** 32 + digest.readUInt32BE(12)) % divisor);
}
