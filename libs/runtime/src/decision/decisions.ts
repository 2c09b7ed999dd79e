import { createHash } from "node:crypto";
import { type CounterHandle, counter, type MetricRegistry, oneOf } from "@evenkeel/metrics";
import type { Logger } from "../log.ts";
import {
  type Decider,
  type Decision,
  type DecisionOf,
  type DecisionSink,
  objectKey,
  type ObjectRef,
  type SnapshotOf,
  type Verdict,
} from "./decision.ts";
import { FlightRecorder, type RecorderLimits } from "./flight-recorder.ts";
import { recordingText } from "./recording.ts";
import { DecisionRing } from "./ring.ts";
import { scrub } from "../scrub.ts";
import { snapshotText } from "./snapshot-text.ts";

export interface DecisionsOptions<D extends Decider> {
  readonly service: string;
  readonly version: string;
  readonly decider: D;
  readonly dryRun: boolean;
  readonly recorder: RecorderLimits;
  readonly log: Logger;
  readonly metrics: MetricRegistry;
}

/** The declaration of the counter that every service has; its label values are the service's own lists. */
export function decisionCounter(actions: readonly string[], reasons: readonly string[]) {
  return counter("evenkeel_decisions_total", "Decisions, those to do nothing and repeats included.", {
    action: oneOf(...actions),
    reason: oneOf(...reasons),
  });
}

interface Last {
  readonly id: string;
  readonly outcome: string;
  readonly message: string;
}

/** Objects whose last decision is remembered. A service may never hear that an object is gone. */
const MOST_OBJECTS = 10_000;

/**
 * Turns snapshots into decisions and tells the sinks. A decision that repeats its object's last one (same action,
 * reason and outcome) raises the counter and nothing else; it carries the id and the message of the decision that it
 * repeats, so that a status written from it does not change.
 */
export class Decisions<D extends Decider = Decider> {
  readonly ring = new DecisionRing();
  readonly #options: DecisionsOptions<D>;
  readonly #recorder: FlightRecorder;
  readonly #sinks: DecisionSink[];
  /** By object; the one that was decided about last comes last. */
  readonly #last = new Map<string, Last>();
  readonly #count: CounterHandle<ReturnType<typeof decisionCounter>["labels"]>;

  constructor(options: DecisionsOptions<D>) {
    this.#options = options;
    this.#recorder = new FlightRecorder(options.recorder);
    this.#count = options.metrics.register({
      decisions: decisionCounter(options.decider.actions, options.decider.reasons),
    }).decisions;
    this.#sinks = [logSink(options.log), this.ring];
  }

  /** Adds a sink, such as Kubernetes Events or a shared stream. */
  addSink(sink: DecisionSink): void {
    this.#sinks.push(sink);
  }

  decide(snapshot: SnapshotOf<D>): DecisionOf<D> {
    const verdict = this.#options.decider.decide(snapshot) as ReturnType<D["decide"]>;
    return this.record(verdict, snapshot.at, () => snapshotText(snapshot));
  }

  /**
   * Takes a verdict that was made elsewhere, such as in a worker thread, on a snapshot of the time `at`. `textOf` gives
   * the snapshot as `snapshotText` writes it, and is only called if the decision is new. The decider must come to the
   * same verdict on that text, because `replay` asks it again.
   */
  record(verdict: ReturnType<D["decide"]>, at: string, textOf: () => string): DecisionOf<D> {
    const dryRun = this.#options.dryRun || verdict.dryRun === true;
    this.#count.inc({ action: verdict.action, reason: verdict.reason });

    const key = objectKey(verdict.object);
    const outcome = outcomeOf(verdict, dryRun);
    const last = this.#last.get(key);
    if (last?.outcome === outcome) {
      this.#remember(key, last);
      return { ...verdict, id: last.id, message: last.message, at, dryRun };
    }

    const text = textOf();
    const decision = { ...verdict, id: identify(this.#options.service, key, text), at, dryRun };
    this.#remember(key, { id: decision.id, outcome, message: verdict.message });
    this.#recorder.keep(decision.id, recordingText(this.#options.service, this.#options.version, decision, text));
    // What is told leaves the process; what is returned is acted on, and needs to be whole.
    const told = JSON.parse(scrub(JSON.stringify(decision))) as Decision;
    for (const sink of this.#sinks) this.#tell(sink, told);
    return decision;
  }

  /** The recording of a decision, as `replay` takes it, as long as the flight recorder has it. */
  recording(id: string): string | undefined {
    return this.#recorder.get(id);
  }

  /** Forgets an object that is gone: the next decision about one of its name is news. */
  forget(object: ObjectRef): void {
    this.#last.delete(objectKey(object));
  }

  /** Forgets every object, as at the end of a term: the next decision about each is news. */
  forgetAll(): void {
    this.#last.clear();
  }

  /** The object that was longest not decided about is forgotten for it. */
  #remember(key: string, last: Last): void {
    this.#last.delete(key);
    this.#last.set(key, last);
    const [oldest] = this.#last.size > MOST_OBJECTS ? this.#last.keys() : [];
    if (oldest !== undefined) this.#last.delete(oldest);
  }

  /** A sink that breaks its promise not to throw must not keep a decision from being carried out. */
  #tell(sink: DecisionSink, decision: Decision): void {
    try {
      sink.record(decision);
    } catch (error) {
      this.#options.log.error({ error, decision: decision.id }, "a decision sink failed");
    }
  }
}

function outcomeOf({ action, reason, after }: Verdict, dryRun: boolean): string {
  return JSON.stringify([action, reason, after, dryRun]);
}

function identify(service: string, object: string, text: string): string {
  return createHash("sha256").update(`${service}\n${object}\n${text}`).digest("hex").slice(0, 16);
}

function logSink(log: Logger): DecisionSink {
  return {
    record: ({ id, object, action, reason, before, after, dryRun, message }) => {
      log.info({ decision: id, object: objectKey(object), action, reason, before, after, dryRun }, message);
    },
  };
}
