import { xxhash64 } from "./xxhash64.ts";

/** Ports of the OpenTelemetry target allocator's two strategies, as its sources have them. They look at no load. */

const PARTITIONS = 1061;
const VIRTUAL_NODES = 5;
const MOST = 1.1;

/**
 * Its default, `consistent-hashing`: a ring with bounded numbers of partitions, built anew for each set of collectors.
 */
export function consistentHashing(addresses: readonly string[], collectors: number): Int32Array {
  const ring = Array.from({ length: collectors }, (_, collector) =>
    Array.from({ length: VIRTUAL_NODES }, (__, node) => ({ at: hashOf(`${node}:c-${collector}`), collector })),
  )
    .flat()
    .sort((a, b) => (a.at < b.at ? -1 : 1));
  const most = Math.ceil((PARTITIONS / collectors) * MOST);
  const counts = new Array<number>(collectors).fill(0);
  const owners = Array.from({ length: PARTITIONS }, (_, partition) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(partition));
    const key = xxhash64(bytes);
    const from = Math.max(
      0,
      ring.findIndex(({ at }) => at >= key),
    );
    for (let step = 0; step < ring.length; step += 1) {
      const { collector = 0 } = ring[(from + step) % ring.length] ?? {};
      if ((counts[collector] ?? 0) + 1 > most) continue;
      counts[collector] = (counts[collector] ?? 0) + 1;
      return collector;
    }
    return 0;
  });
  return Int32Array.from(addresses, (address) => owners[Number(hashOf(address) % BigInt(PARTITIONS))] ?? 0);
}

/** `least-weighted`: a target stays with its collector, and others go to the one with the fewest targets. */
export function leastWeighted(before: Int32Array, collectors: number): Int32Array {
  const counts = new Array<number>(collectors).fill(0);
  for (const owner of before) if (owner >= 0 && owner < collectors) counts[owner] = (counts[owner] ?? 0) + 1;
  return before.map((owner) => {
    if (owner >= 0 && owner < collectors) return owner;
    const least = counts.indexOf(Math.min(...counts));
    counts[least] = (counts[least] ?? 0) + 1;
    return least;
  });
}

function hashOf(text: string): bigint {
  return xxhash64(Buffer.from(text));
}
