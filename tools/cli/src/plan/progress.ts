import type { Clock } from "@evenkeel/runtime";

/** Milliseconds before the first report. */
const FIRST_REPORT = 2000;
/** Milliseconds between two reports after that. */
const REPORT_INTERVAL = 5000;

/** Reports the progress of work that takes long. */
export class Progress {
  readonly #clock: Clock;
  readonly #note: (line: string) => void;
  #next: number;

  constructor(clock: Clock, note: (line: string) => void) {
    this.#clock = clock;
    this.#note = note;
    this.#next = clock.monotonic() + FIRST_REPORT;
  }

  report(line: () => string): void {
    const now = this.#clock.monotonic();
    if (now < this.#next) return;
    this.#next = now + REPORT_INTERVAL;
    this.#note(line());
  }

  /** Reports on its own, for work that does not report. Stops when the work ends. */
  async during<T>(line: () => string, work: Promise<T>): Promise<T> {
    let isOver = false;
    let cancel = (): void => undefined;
    const wait = (): void => {
      cancel = this.#clock.schedule(Math.max(1, this.#next - this.#clock.monotonic()), () => {
        if (isOver) return;
        this.report(line);
        wait();
      });
    };
    wait();
    try {
      return await work;
    } finally {
      isOver = true;
      cancel();
    }
  }
}
