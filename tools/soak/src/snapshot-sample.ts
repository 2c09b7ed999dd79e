import { parseRecording, replay } from "@evenkeel/runtime";
import { weightRebalancer } from "@evenkeel/weight-rebalancer";

/** How many snapshots the flight recorder is told to keep, and of how many decisions, the last ones, one is picked. */
export const RECORDED = 1000;
const PICKED_FROM = 200;

/** Snapshots from the flight recorder of a running service, one of the last few decisions at a time. */
export class SnapshotSample {
  readonly #admin: string;
  readonly #random: () => number;
  readonly #texts = new Map<string, string>();
  readonly #recent: string[] = [];

  constructor(admin: string, random: () => number) {
    this.#admin = admin;
    this.#random = random;
  }

  get size(): number {
    return this.#texts.size;
  }

  /** A decision was made. */
  heard(id: string): void {
    this.#recent.push(id);
    if (this.#recent.length > PICKED_FROM) this.#recent.shift();
  }

  /** Takes the snapshot of one of the last decisions. Resolves with false if there is none that was not taken yet. */
  async take(): Promise<boolean> {
    const [id] = this.#recent.splice(Math.floor(this.#random() * this.#recent.length), 1);
    if (id === undefined) return false;
    const answer = await fetch(`${this.#admin}/api/v1/Decisions/Snapshot?id=${id}`);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the snapshot of ${id} was refused: ${text}`);
    this.#texts.set(id, text);
    return true;
  }

  /** Decides on all of them again, here. */
  replays(): readonly { readonly id: string; readonly same: boolean }[] {
    const { name, decider } = weightRebalancer;
    return [...this.#texts].map(([id, text]) => ({ id, same: replay(decider, parseRecording(id, text, name)).same }));
  }
}
