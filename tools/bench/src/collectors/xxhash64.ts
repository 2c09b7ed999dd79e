const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;
const MASK = 0xffffffffffffffffn;

const times = (a: bigint, b: bigint) => (a * b) & MASK;
const plus = (a: bigint, b: bigint) => (a + b) & MASK;
const turned = (value: bigint, by: bigint) => ((value << by) | (value >> (64n - by))) & MASK;
const round = (sum: bigint, lane: bigint) => times(turned(plus(sum, times(lane, P2)), 31n), P1);
const merged = (hash: bigint, sum: bigint) => plus(times(hash ^ round(0n, sum), P1), P4);

/** XXH64 with seed 0, by https://github.com/Cyan4973/xxHash/blob/v0.8.3/doc/xxhash_spec.md */
export function xxhash64(bytes: Buffer): bigint {
  let at = 0;
  let hash = P5;
  if (bytes.length >= 32) {
    const sums: [bigint, bigint, bigint, bigint] = [plus(P1, P2), P2, 0n, (MASK + 1n - P1) & MASK];
    for (; at + 32 <= bytes.length; at += 32)
      for (const lane of [0, 1, 2, 3] as const) sums[lane] = round(sums[lane], bytes.readBigUInt64LE(at + 8 * lane));
    const [a, b, c, d] = sums;
    hash = plus(plus(turned(a, 1n), turned(b, 7n)), plus(turned(c, 12n), turned(d, 18n)));
    for (const sum of sums) hash = merged(hash, sum);
  }
  hash = plus(hash, BigInt(bytes.length));
  for (; at + 8 <= bytes.length; at += 8)
    hash = plus(times(turned(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n), P1), P4);
  if (at + 4 <= bytes.length) {
    hash = plus(times(turned(hash ^ times(BigInt(bytes.readUInt32LE(at)), P1), 23n), P2), P3);
    at += 4;
  }
  for (; at < bytes.length; at += 1) hash = times(turned(hash ^ times(BigInt(bytes[at] ?? 0), P5), 11n), P1);
  hash = times(hash ^ (hash >> 33n), P2);
  hash = times(hash ^ (hash >> 29n), P3);
  return hash ^ (hash >> 32n);
}
