import type { NodeMetrics, PodMetrics } from "@evenkeel/kube";
import { quantity } from "@evenkeel/placement";

/** What a node or a pod used: milli-CPU and bytes, NaN where it was not measured. */
export interface Measured {
  readonly cpu: number;
  readonly memory: number;
  /** The end of the time that was measured, in milliseconds since the epoch. */
  readonly at: number;
  /** Its length in milliseconds. */
  readonly window: number;
}

/** Usage by name of the node, and by `namespace/name` of the pod. */
export interface Usage {
  readonly nodes: ReadonlyMap<string, Measured>;
  readonly pods: ReadonlyMap<string, Measured>;
}

export const NO_USAGE: Usage = { nodes: new Map(), pods: new Map() };

/** Where usage is read. It rejects if there is no answer, or none that is usable. */
export interface UsageSource {
  read(signal: AbortSignal): Promise<Usage>;
}

export function measuredNode({ usage, timestamp, window }: NodeMetrics): Measured {
  return { cpu: milli(usage["cpu"]), memory: bytes(usage["memory"]), ...spanOf(timestamp, window) };
}

/** The sum of the containers; a pod without any was not measured. */
export function measuredPod({ containers, timestamp, window }: PodMetrics): Measured {
  const sum = (of: (usage: Readonly<Record<string, string>>) => number): number =>
    containers.length === 0 ? NaN : containers.reduce((total, { usage }) => total + of(usage), 0);
  return {
    cpu: sum(({ cpu }) => milli(cpu)),
    memory: sum(({ memory }) => bytes(memory)),
    ...spanOf(timestamp, window),
  };
}

function milli(text: string | undefined): number {
  return quantity(text ?? "") * 1000;
}

function bytes(text: string | undefined): number {
  return quantity(text ?? "");
}

function spanOf(timestamp: string, window: string): Pick<Measured, "at" | "window"> {
  return { at: Date.parse(timestamp), window: goDuration(window) };
}

const UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

/** A duration as Go writes it, such as `1m0s` or `15.033s`, in milliseconds; NaN for any other text. */
export function goDuration(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/.test(text)) return text === "0" ? 0 : NaN;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)/g)].reduce(
    (total, [, figures, unit = ""]) => total + Number(figures) * (UNITS[unit] ?? NaN),
    0,
  );
}
