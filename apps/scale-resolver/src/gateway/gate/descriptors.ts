import { readFileSync } from "node:fs";

/** Kept for connections to pods, watches and listeners: an eighth, at least and at most so many. */
const FEWEST = 128;
const MOST = 4_096;
const MOST_CONNECTIONS = 50_000;

/** How many files and sockets the process may have open; Infinity where that cannot be read. */
export function descriptorLimit(read: () => string = () => readFileSync("/proc/self/limits", "utf8")): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(read())?.[1];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}

/** Foresees that no file descriptor is left, when held requests could be neither forwarded nor answered. */
export class Descriptors {
  /** How many connections clients may have, at all ports together: the other descriptors are for pods, and for telling clients that there is no room. */
  readonly connections: number;
  readonly #most: number;
  readonly #open: () => number;

  constructor(limit: number, open: () => number) {
    const reserve = Math.max(FEWEST, Math.min(MOST, Math.floor(limit / 8)));
    this.#most = limit - reserve;
    this.connections = Math.max(1, Math.min(MOST_CONNECTIONS, Math.floor(limit - reserve / 2)));
    this.#open = open;
  }

  /** Whether no further request may wait. */
  get short(): boolean {
    return this.#most !== Infinity && this.#open() >= this.#most;
  }
}
