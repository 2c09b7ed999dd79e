import type { KeySource } from "./controller-source.ts";

/** Keys that other parts of this process ask to reconcile. */
export class KeyNotifier implements KeySource {
  readonly #listeners = new Set<(key: string) => void>();

  notify(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  subscribe(enqueue: (key: string, priority: "normal") => void): () => void {
    const listener = (key: string) => enqueue(key, "normal");
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
