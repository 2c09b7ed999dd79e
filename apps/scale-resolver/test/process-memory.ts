import { readFileSync } from "node:fs";

/** Milliseconds between two reads of a process's memory. */
const LOOK = 250;

/** Bytes of a process that are in memory. */
function residentSize(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/** Looks at the memory of a process from now on, for as long as it runs. */
export class MemoryWatch implements Disposable {
  readonly #pid: number;
  readonly #before: number;
  readonly #sizes: number[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = residentSize(pid);
    this.#timer = setInterval(() => this.#sizes.push(residentSize(pid)), LOOK);
  }

  /** Number of reads. */
  get looks(): number {
    return this.#sizes.length;
  }

  /** By how many bytes the process has grown at most. */
  get grown(): number {
    return Math.max(...this.#sizes, residentSize(this.#pid)) - this.#before;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
