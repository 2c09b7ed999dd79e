import type { ResourceRecordSet } from "@aws-sdk/client-route-53";
import { Superseded, Withdrawn } from "../../errors.ts";
import type { WriteTerms } from "../weight-target.ts";
import type { WeightChange } from "./change-batch.ts";
import { describeRecord, recordKey, type RecordId } from "./weighted-record.ts";

/** A write with a waiting caller. It is settled once; later calls have no effect. */
export class PendingWrite implements WeightChange {
  readonly id: RecordId;
  readonly weight: number;
  readonly key: string;
  readonly target: string;
  readonly done: Promise<void>;
  /** How often Route 53 has refused this write alone. */
  refusals = 0;
  /** The last refusal of this write alone, and the record as the request had it. */
  refused: { readonly record: ResourceRecordSet; readonly error: unknown } | undefined;
  readonly #terms: WriteTerms;
  readonly #settled = Promise.withResolvers<undefined>();
  #abort: () => void = () => undefined;

  constructor(id: RecordId, weight: number, terms: WriteTerms) {
    this.id = id;
    this.weight = weight;
    this.key = recordKey(id);
    this.target = describeRecord(id);
    this.#terms = terms;
    this.done = this.#settled.promise;
  }

  /** Calls `abort` once when the caller aborts, unless the write is settled before. */
  onAbort(abort: () => void): void {
    this.#abort = abort;
    this.#terms.signal.addEventListener("abort", abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#terms.signal;
  }

  /** The weight that the decision was made for; undefined if any may be replaced. */
  get expected(): number | undefined {
    return this.#terms.expected;
  }

  /** Throws if it must no longer be written. */
  lastLook(): void {
    this.#terms.lastLook();
  }

  resolve(): void {
    this.#terms.signal.removeEventListener("abort", this.#abort);
    this.#settled.resolve(undefined);
  }

  reject(error: unknown): void {
    this.#terms.signal.removeEventListener("abort", this.#abort);
    this.#settled.reject(error);
  }

  withdraw(why: string, cause?: unknown): void {
    const { target, weight } = this;
    this.reject(new Withdrawn({ target, weight, why }, cause === undefined ? {} : { cause }));
  }

  supersede(later: number): void {
    const { target, weight } = this;
    this.reject(new Superseded({ target, weight, later }));
  }
}
