import { type Condition, count, type ObjectName, type Tone } from "@evenkeel/dashboard/browser";

export type StateWord = "Serve" | "Guard" | "Zero" | "Wake" | "Unknown";

/** `resolver.v1.ServiceActivity` in JSON: 64-bit numbers are strings, and unknown values are absent. */
export interface Service {
  readonly service: ObjectName;
  readonly state: string;
  readonly since?: string;
  readonly replicas?: number;
  readonly pending: string;
  readonly inFlight: string;
  readonly activityUnknown: boolean;
  readonly activityGap: string;
  readonly resolvers: readonly { readonly name: string; readonly pending: string; readonly inFlight: string }[];
  readonly lastRequestAt?: string;
  readonly lastWake?: string;
  readonly reason: string;
  readonly message: string;
  readonly decidedAt?: string;
  readonly elastiService: string;
  readonly target: string;
  readonly pods?: { readonly ready: number; readonly leaving: number; readonly starting: number };
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

/** `resolver.v1.HistoryResponse` in JSON. */
export interface History {
  readonly changes: readonly StateChange[];
  readonly wakes: readonly WakePhases[];
  readonly queue: readonly QueuePoint[];
}

export interface StateChange {
  readonly at: string;
  readonly state: string;
  readonly reason: string;
  readonly message: string;
}

export interface WakePhases {
  readonly startedAt: string;
  readonly scale?: string;
  readonly start?: string;
  readonly connect?: string;
  readonly held: string;
}

export interface QueuePoint {
  readonly at: string;
  readonly pending?: string;
  readonly inFlight?: string;
  readonly replicas?: number;
}

/** `resolver.v1.PreviewResponse` in JSON. */
export interface Preview {
  readonly state: string;
  readonly next: string;
  readonly reason: string;
  readonly message: string;
  readonly obstacles: readonly Obstacle[];
  readonly waits: readonly Obstacle[];
}

export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

const WORDS: Readonly<Record<string, StateWord>> = {
  STATE_SERVE: "Serve",
  STATE_GUARD: "Guard",
  STATE_ZERO: "Zero",
  STATE_WAKE: "Wake",
};

/** `Zero` for `STATE_ZERO`. */
export function stateWord(state: string): StateWord {
  return WORDS[state] ?? "Unknown";
}

const TONES: Readonly<Record<StateWord, Tone>> = {
  Serve: "ok",
  Guard: "accent",
  Zero: "quiet",
  Wake: "warn",
  Unknown: "quiet",
};

export function toneOf(state: string): Tone {
  return TONES[stateWord(state)];
}

/** What each state means. */
export const MEANINGS: Readonly<Record<StateWord, string>> = {
  Serve: "Requests go directly to the pods",
  Guard: "Requests pass through the resolver, which counts them",
  Zero: "0 replicas; the next request wakes it",
  Wake: "Requests are held until a pod is ready",
  Unknown: "Not reconciled yet",
};

/** How many requests wait; null while not every replica reports. */
export function pendingOf({ pending, activityUnknown }: Service): number | null {
  return activityUnknown ? null : count(pending);
}

/** Milliseconds of a duration such as `2.105s`; null is unknown. */
export function milliseconds(duration: string | undefined): number | null {
  if (duration === undefined) return null;
  const seconds = Number(duration.replace(/s$/, ""));
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** `42 ms`, `2.1 s`, `75 s`. */
export function lengthText(length: number | null): string {
  if (length === null) return "–";
  if (length < 1000) return `${Math.round(length)} ms`;
  return `${(length / 1000).toLocaleString("en", { maximumFractionDigits: length < 10_000 ? 1 : 0 })} s`;
}
