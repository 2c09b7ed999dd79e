import type { DatabaseSync } from "node:sqlite";
import { CodedError } from "@evenkeel/runtime";
import type { Availability } from "../availability.ts";
import { Unavailable } from "../errors.ts";
import { counted, type Operation, type StateMetrics } from "../metrics.ts";
import { explained, transact } from "./database.ts";

/** Runs calls on the open database. They are synchronous, so each is alone; only their results are promised. */
export class Calls {
  readonly #metrics: StateMetrics;
  readonly #availability: Availability;
  #database: DatabaseSync | undefined;

  constructor(metrics: StateMetrics, availability: Availability) {
    this.#metrics = metrics;
    this.#availability = availability;
  }

  open(database: DatabaseSync): void {
    this.#database = database;
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  run<T>(operation: Operation, call: (database: DatabaseSync) => T): Promise<T> {
    return counted(this.#metrics, operation, () => Promise.resolve(this.#attempt(operation, call)));
  }

  /** Runs `call` as a whole or not at all. */
  transact<T>(operation: Operation, call: (database: DatabaseSync) => T): Promise<T> {
    return this.run(operation, (database) => transact(database, () => call(database)));
  }

  #attempt<T>(operation: Operation, call: (database: DatabaseSync) => T): T {
    if (!this.#database) throw new Unavailable({ operation }, { cause: new Error("it is not open") });
    try {
      const result = call(this.#database);
      this.#availability.set(true);
      return result;
    } catch (error) {
      const meaning = explained(error, operation);
      if (meaning instanceof Unavailable) this.#availability.set(false, meaning);
      else if (meaning instanceof CodedError) this.#availability.set(true);
      throw meaning;
    }
  }
}
