const { imul } = Math;

/** 64 bits as two unsigned 32-bit halves, which plain arithmetic handles faster than a bigint. */
export interface Hash {
  readonly high: number;
  readonly low: number;
}

/**
 * MurmurHash3_x86_128 of `bytes`, of which the first two of four words are kept. Well mixed and fast in 32-bit
 * arithmetic, but not secret: who chooses the bytes can choose the hash. `seed` is taken modulo 2^32.
 *
 * The algorithm is Austin Appleby's, in the public domain:
 * https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp
 */
export function hashBytes(bytes: Uint8Array, seed = 0): Hash {
  let a = seed | 0;
  let b = a;
  let c = a;
  let d = a;
  const body = bytes.length - (bytes.length % 16);
  for (let at = 0; at < body; at += 16) {
    a = (imul(rotate(a ^ scrambleA(word(bytes, at)), 19) + b, 5) + 0x561ccd1b) | 0;
    b = (imul(rotate(b ^ scrambleB(word(bytes, at + 4)), 17) + c, 5) + 0x0bcaa747) | 0;
    c = (imul(rotate(c ^ scrambleC(word(bytes, at + 8)), 15) + d, 5) + 0x96cd1c35) | 0;
    d = (imul(rotate(d ^ scrambleD(word(bytes, at + 12)), 13) + a, 5) + 0x32ac3b17) | 0;
  }
  a ^= scrambleA(word(bytes, body)) ^ bytes.length;
  b ^= scrambleB(word(bytes, body + 4)) ^ bytes.length;
  c ^= scrambleC(word(bytes, body + 8)) ^ bytes.length;
  d ^= scrambleD(word(bytes, body + 12)) ^ bytes.length;

  a = (a + b + c + d) | 0;
  const [mixedB, mixedC, mixedD] = [finish(b + a), finish(c + a), finish(d + a)];
  const high = (finish(a) + mixedB + mixedC + mixedD) >>> 0;
  return { high, low: (high + mixedB) >>> 0 };
}

/** The hash of a text's UTF-8 bytes. */
export function hashText(text: string, seed = 0): Hash {
  return hashBytes(utf8(text), seed);
}

/** An encoder costs more than the hash of a short text, so text in ASCII does without one. */
function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) return new TextEncoder().encode(text);
    bytes[at] = code;
  }
  return bytes;
}

/** Flips each bit of the result for about half of the changes of any one bit. A bijection of 32-bit numbers. */
export function finish(word: number): number {
  let mixed = word | 0;
  mixed = imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const [A, B, C, D] = [0x239b961b, 0xab0e9789, 0x38b34ae5, 0xa1e38b93] as const;

function scrambleA(word: number): number {
  return imul(rotate(imul(word, A), 15), B);
}

function scrambleB(word: number): number {
  return imul(rotate(imul(word, B), 16), C);
}

function scrambleC(word: number): number {
  return imul(rotate(imul(word, C), 17), D);
}

function scrambleD(word: number): number {
  return imul(rotate(imul(word, D), 18), A);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Four bytes, the first lowest; those beyond the end are 0, which the scrambling leaves 0. */
function word(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
