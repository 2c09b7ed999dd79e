import type { Random } from "./random.ts";

const WORDS = [
  "\r\n",
  "\n",
  "\r",
  "\r\n\r\n",
  "\0",
  " ",
  "\t",
  ":",
  ";",
  ",",
  "0\r\n\r\n",
  "Content-Length: 3\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Connection: close\r\n",
  "Connection: upgrade\r\nUpgrade: websocket\r\n",
  "Expect: 100-continue\r\n",
  "HTTP/1.0",
  "GET /hidden/0 HTTP/1.1\r\nHost: hidden.test\r\n\r\n",
  "\u00ff",
  "%00",
  "-1",
  "99999999999999999999",
] as const;

/** One to five small damages at random places. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let count = 1 + random.below(5); count > 0; count--) result = damage(random, result);
  return result;
}

function damage(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at);
  const some = 1 + random.below(8);
  switch (random.below(6)) {
    case 0:
      return Buffer.concat([before, random.bytes(1), after.subarray(1)]);
    case 1:
      return Buffer.concat([before, Buffer.from(random.pick(WORDS), "latin1"), after]);
    case 2:
      return Buffer.concat([before, after.subarray(some)]);
    case 3:
      return Buffer.concat([before, after.subarray(0, 20 + some), after]);
    case 4:
      return random.chance(0.3) ? before : Buffer.concat([before, random.bytes(some), after]);
    default: {
      const from = random.below(bytes.length + 1);
      return Buffer.concat([before, bytes.subarray(from, from + 30), after]);
    }
  }
}
