import type { Condition, ObjectName, Tone } from "@evenkeel/dashboard/browser";

/** `weights.v1.Weight` in JSON: 64-bit numbers are strings, and unknown values are absent. */
export interface Weight {
  readonly rebalance: ObjectName;
  readonly metric?: number;
  readonly targetValue: number;
  readonly desired?: string;
  readonly targets: readonly { readonly name: string; readonly actual?: string; readonly share?: number }[];
  readonly reason: string;
  readonly message: string;
  readonly decidedAt?: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
  readonly baseValue: string;
  readonly minimum: string;
  readonly maximum: string;
}

/** `weights.v1.Point` in JSON. */
export interface Point {
  readonly at: string;
  readonly metric?: number;
  readonly targetValue: number;
  readonly desired?: string;
  readonly actual?: string;
  readonly share?: number;
}

/** The state of a Rebalance in one word. */
export function stateOf({ paused, metric, dryRun, conditions, decidedAt }: Weight): readonly [Tone, string] {
  if (paused) return ["warn", "Paused"];
  if (conditions.some(({ type, status }) => type === "Ready" && status === "False")) return ["bad", "Not ready"];
  if (decidedAt === undefined) return ["quiet", "Waiting"];
  if (metric === undefined) return ["warn", "No metric"];
  return dryRun ? ["quiet", "Dry run"] : ["ok", "Following"];
}

/** The share of the first target before it got its present one; undefined if it never changed. */
export function earlierShare(points: readonly Point[]): { readonly at: string; readonly share: number } | undefined {
  const now = points.findLast(({ share }) => share !== undefined)?.share;
  if (now === undefined) return undefined;
  const before = points.findLast(({ share }) => share !== undefined && Math.abs(share - now) >= 0.0005);
  return before?.share === undefined ? undefined : { at: before.at, share: before.share };
}

/** Of `route53 Z1/www.example.com A blue`, what distinguishes it (`blue`) and where it is (`www.example.com A`). */
export function placeOf({ targets }: Weight): { readonly title: string; readonly where: string } {
  const words = targets[0]?.name.split(" ") ?? [];
  const more = targets.length > 1 ? ` and ${targets.length - 1} more` : "";
  const where = words.slice(0, -1).join(" ").split("/").at(-1) ?? "";
  return { title: words.at(-1) || "–", where: where + more };
}
