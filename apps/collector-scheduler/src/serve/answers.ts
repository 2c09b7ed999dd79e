import type { CollectorJob } from "../config/collector-job.ts";
import type { Owners } from "../decide/owners.ts";
import type { Target, TargetChanges } from "../observe/target.ts";
import { type Body, bodyOf } from "./body.ts";
import { queryEscape } from "./request-path.ts";

/** The targets of one job, and what each collector is told of them. */
interface JobAnswers {
  /** By identity. */
  readonly targets: Map<string, Target>;
  /** By collector; absent until somebody asks, and again after each change. */
  byCollector: ReadonlyMap<string, Body> | undefined;
}

const EMPTY: Body = "[]";

/**
 * The bytes that collectors of one CollectorLoadBalancer are answered. They are made once for each change of a job,
 * when somebody first asks, and are the same on every replica.
 */
export class Answers {
  readonly #jobs = new Map<string, JobAnswers>();
  /** What a target looks like does not depend on who owns it. */
  readonly #texts = new WeakMap<Target, string>();
  #owners: Owners | undefined;

  /** Takes changes of targets. */
  update({ added, removed }: TargetChanges): void {
    for (const { job, identity } of removed) {
      const answers = this.#jobs.get(job);
      answers?.targets.delete(identity);
      if (answers) answers.byCollector = undefined;
    }
    for (const target of added) {
      const answers = this.#job(target.job);
      answers.targets.set(target.identity, target);
      answers.byCollector = undefined;
    }
  }

  /** Takes new assignments. */
  assign(owners: Owners): void {
    this.#owners = owners;
    for (const answers of this.#jobs.values()) answers.byCollector = undefined;
  }

  /** What one collector is told; `[]` for one that owns nothing of the job. */
  targetsOf(job: string, collector: string): Body {
    return this.#byCollector(job).get(collector) ?? EMPTY;
  }

  /** What all collectors are told, by collector. `base` is the path that this is below. */
  overview(job: CollectorJob, base: string): Body {
    const link = `${base}/jobs/${queryEscape(job.name)}/targets?collector_id=`;
    const entries = [...this.#byCollector(job.key)].map(
      ([collector, targets]) =>
        `${JSON.stringify(collector)}:{"_link":${JSON.stringify(link + collector)},"targets":${targets.toString()}}`,
    );
    return bodyOf(`{${entries.join(",")}}`);
  }

  #job(job: string): JobAnswers {
    const known = this.#jobs.get(job);
    if (known) return known;
    const answers: JobAnswers = { targets: new Map(), byCollector: undefined };
    this.#jobs.set(job, answers);
    return answers;
  }

  #byCollector(job: string): ReadonlyMap<string, Body> {
    const answers = this.#job(job);
    return (answers.byCollector ??= this.#made(answers.targets));
  }

  #made(targets: ReadonlyMap<string, Target>): ReadonlyMap<string, Body> {
    const parts = new Map<string, string[]>();
    // The order of discovery differs between replicas.
    const sorted = [...targets.values()].sort((a, b) => (a.identity < b.identity ? -1 : 1));
    for (const target of sorted) {
      for (const owner of this.#owners?.of(target) ?? []) {
        const own = parts.get(owner);
        if (own) own.push(this.#text(target));
        else parts.set(owner, [this.#text(target)]);
      }
    }
    return new Map(Array.from(parts, ([owner, texts]) => [owner, bodyOf(`[${texts.join(",")}]`)]));
  }

  #text(target: Target): string {
    const known = this.#texts.get(target);
    if (known !== undefined) return known;
    const labels = [...target.labels].filter(([name]) => name !== "__address__").sort(([a], [b]) => (a < b ? -1 : 1));
    const text = JSON.stringify({ targets: [target.address], labels: Object.fromEntries(labels) });
    this.#texts.set(target, text);
    return text;
  }
}
