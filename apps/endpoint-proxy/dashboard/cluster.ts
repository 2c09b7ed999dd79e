import type { Condition, ObjectName, Tone } from "@evenkeel/dashboard/browser";

/** `scores.v1.ClusterScore` in JSON: 64-bit numbers are texts, and what is unknown is absent. */
export interface Cluster {
  readonly name: ObjectName;
  readonly own: boolean;
  readonly standing: string;
  readonly reason: string;
  readonly message: string;
  readonly region: string;
  readonly endpoint: string;
  readonly score?: string;
  readonly source: string;
  readonly ownScore?: string;
  readonly ownSource: string;
  readonly free?: Room;
  readonly whole?: Room;
  readonly marginalWatts?: number;
  readonly nodes: readonly { readonly name: string; readonly score: string }[];
  readonly failedNodes?: string;
  readonly ageSeconds?: number;
  readonly latencySeconds?: number;
  readonly serverVersion: string;
  readonly paused: boolean;
  readonly dryRun: boolean;
  readonly decidedAt?: string;
  readonly conditions: readonly Condition[];
}

export interface Room {
  readonly cpu: string;
  readonly memory: string;
  readonly pods: string;
}

const TONES: Readonly<Record<string, Tone>> = { Ready: "ok", Paused: "warn", Unscored: "warn", Unreachable: "bad" };

export function toneOf({ standing }: Cluster): Tone {
  return TONES[standing] ?? "quiet";
}

/** `412 W`, or `250 ‰` of CPU requested. */
export function scoreText(score: string | undefined, source: string): string {
  return score === undefined ? "unknown" : `${score} ${source === "watts" ? "W" : "‰"}`;
}

/** The part that is not free, 0 to 1; undefined while it is unknown. */
export function usedShare(free: string | undefined, whole: string | undefined): number | undefined {
  const all = Number(whole ?? 0);
  return free === undefined || all <= 0 ? undefined : 1 - Number(free) / all;
}
