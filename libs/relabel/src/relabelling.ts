import { type Apply, compileRule } from "./actions.ts";
import { LabelsTooLong } from "./label-length.ts";
import { LabelView } from "./label-view.ts";
import type { Labels } from "./labels.ts";
import { checkRule } from "./rule-check.ts";
import { seeds } from "./seeds.ts";
import { Validity } from "./validity.ts";

/** A relabelling rule as a scrape configuration has it. Absent fields have Prometheus's defaults. */
export interface RelabelRule {
  readonly source_labels?: readonly string[];
  readonly separator?: string;
  readonly regex?: string;
  readonly modulus?: number | bigint;
  readonly target_label?: string;
  readonly replacement?: string;
  readonly action?: string;
}

/** What a job seeds its targets with, and its rules. Values are those of the job with the global ones filled in. */
export interface ScrapeJob {
  readonly jobName: string;
  readonly scheme: string;
  readonly metricsPath: string;
  readonly scrapeInterval: string;
  readonly scrapeTimeout: string;
  readonly params: ReadonlyMap<string, readonly string[]>;
  readonly convertClassicHistograms: boolean;
  readonly alwaysScrapeClassicHistograms: boolean;
  readonly scrapeNativeHistograms: boolean;
  /** Which names a label may have: `metric_name_validation_scheme`. */
  readonly names: "utf8" | "legacy";
  readonly rules: readonly RelabelRule[];
}

/**
 * Why a target cannot be scraped, in the order in which Prometheus looks. The last is not one of Prometheus: rules made
 * the labels too long.
 */
export type TargetFault =
  | "NoAddress"
  | "BadAddress"
  | "BadInterval"
  | "BadTimeout"
  | "TimeoutAboveInterval"
  | "BadHistogramFlag"
  | "BadLabelValue"
  | "LabelsTooLong";

export type Outcome =
  /** To be scraped with these labels: no meta labels, `instance` set. */
  | { readonly kind: "kept"; readonly labels: Labels }
  /** Dropped by the rule of this index. */
  | { readonly kind: "dropped"; readonly rule: number }
  | { readonly kind: "invalid"; readonly fault: TargetFault; readonly message: string };

/** The labels after one rule; undefined where the rule dropped the target, or made its labels too long. */
export interface Step {
  readonly rule: RelabelRule;
  readonly labels: Labels | undefined;
}

/** The rules of one job, compiled. Labels of the target win over those of its group. */
export interface Relabelling {
  outcome(group: Labels, target: Labels): Outcome;
  /** Of each rule up to the one that drops the target, the labels after it. */
  steps(group: Labels, target: Labels): readonly Step[];
}

/** A field of a job that Prometheus would refuse. */
export interface JobFault {
  /** Such as `relabel_configs[2].regex`. */
  readonly field: string;
  readonly message: string;
}

export type Compilation =
  | { readonly ok: true; readonly relabelling: Relabelling }
  | { readonly ok: false; readonly faults: readonly JobFault[] };

/** Compiles the rules of a job, or says everything that Prometheus would refuse about them. */
export function relabelling(job: ScrapeJob): Compilation {
  const faults: JobFault[] = [];
  const seeded = seeds(job);
  if (Array.isArray(seeded)) faults.push(...seeded);
  const applied: Apply[] = [];
  for (const [index, rule] of job.rules.entries()) {
    const checked = checkRule(rule, job.names, `relabel_configs[${index}]`);
    if (Array.isArray(checked)) faults.push(...checked);
    else applied.push(compileRule(checked, job.names));
  }
  if (Array.isArray(seeded) || faults.length > 0) return { ok: false, faults };
  return { ok: true, relabelling: new CompiledRules(seeded, job.rules, applied) };
}

class CompiledRules implements Relabelling {
  readonly #rules: readonly RelabelRule[];
  readonly #applied: readonly Apply[];
  readonly #view: LabelView;
  readonly #validity = new Validity();

  constructor(seeded: Labels, rules: readonly RelabelRule[], applied: readonly Apply[]) {
    this.#rules = rules;
    this.#applied = applied;
    this.#view = new LabelView(seeded);
  }

  outcome(group: Labels, target: Labels): Outcome {
    const view = this.#view;
    view.show(group, target);
    try {
      const dropping = this.#applied.findIndex((apply) => !apply(view));
      return dropping === -1 ? this.#validity.outcome(view) : { kind: "dropped", rule: dropping };
    } catch (error) {
      if (!(error instanceof LabelsTooLong)) throw error;
      return { kind: "invalid", fault: "LabelsTooLong", message: error.message };
    }
  }

  steps(group: Labels, target: Labels): readonly Step[] {
    const view = this.#view;
    view.show(group, target);
    const steps: Step[] = [];
    for (const [index, rule] of this.#rules.entries()) {
      const stays = this.#stays(index);
      steps.push({ rule, labels: stays ? view.labels() : undefined });
      if (!stays) break;
    }
    return steps;
  }

  /** Whether the target is still there after a rule. */
  #stays(rule: number): boolean {
    try {
      return this.#applied[rule]?.(this.#view) === true;
    } catch (error) {
      if (!(error instanceof LabelsTooLong)) throw error;
      return false;
    }
  }
}
