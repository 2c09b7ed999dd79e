import { readFileSync } from "node:fs";

/** File descriptors reserved for connections to pods, watches and listeners: an eighth, within these limits. */
const FEWEST = 128;
const MOST = 4_096;
const MOST_CONNECTIONS = 50_000;

/** The maximum number of open files and sockets of the process; Infinity if it cannot be read. */
export function descriptorLimit(read: () => string = () => readFileSync("/proc/self/limits", "utf8")): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(read())?.[1];
    return limit === undefined ? Infinity : Number(limit);
  } catch {
    return Infinity;
  }
}

/** Reserves file descriptors, because without any, held requests could be neither forwarded nor answered. */
export class Descriptors {
  /**
   * Maximum number of client connections on all ports. The other descriptors are for pods, and to answer clients with
   * an error.
   */
  readonly connections: number;
  readonly #limit: number;
  readonly #reserve: number;
  readonly #open: () => number;

  constructor(limit: number, open: () => number) {
    const reserve = Math.max(FEWEST, Math.min(MOST, Math.floor(limit / 8)));
    this.#limit = limit;
    this.#reserve = reserve;
    this.connections = Math.max(1, Math.min(MOST_CONNECTIONS, Math.floor(limit - reserve / 2)));
    this.#open = open;
  }

  /** Whether no further request may wait, and no further tunnel begin. */
  get short(): boolean {
    return this.#isOpen(this.#limit - this.#reserve);
  }

  /** Whether no further request may be forwarded. */
  get exhausted(): boolean {
    return this.#isOpen(this.#limit - this.#reserve / 4);
  }

  #isOpen(most: number): boolean {
    return most !== Infinity && this.#open() >= most;
  }
}
