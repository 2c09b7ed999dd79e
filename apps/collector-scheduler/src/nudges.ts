import type { KeySource } from "@evenkeel/kube";

/** Keys to reconcile that something in this process names. */
export class Nudges implements KeySource {
  readonly #listeners = new Set<(key: string) => void>();

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(enqueue: (key: string, priority: "normal") => void): () => void {
    const listener = (key: string) => enqueue(key, "normal");
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  nudge(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
