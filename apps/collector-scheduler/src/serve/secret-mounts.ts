import type { CollectorJob } from "../config/collector-job.ts";
import type { Fields } from "../config/configuration-text.ts";

/**
 * Milliseconds in which kubelets bring a changed Secret to pods that run: their sync period of a minute, and half of
 * it.
 */
export const MOUNT_TIME = 90_000;

type Job = Pick<CollectorJob, "key" | "served" | "secretFiles">;

/** A job that names a file which pods may not have yet. */
interface Pending {
  readonly until: number;
  /** As it was served before; undefined if it was not. */
  readonly former: Fields | undefined;
}

/**
 * Serves a job that names a new file of the collectors' Secret as it was before, until pods have the file. A collector
 * that is told of a CA or key too early does not look for it again. Files that were there at the start are taken for
 * mounted. A file that needs a new mount comes with a restart, so that pods which are to restart are waited for too.
 */
export class SecretMounts {
  /** By name: since when it is in the Secret, in milliseconds. */
  #files: ReadonlyMap<string, number> | undefined;
  #served: ReadonlyMap<string, Fields> = new Map();
  #pending: ReadonlyMap<string, Pending> = new Map();
  readonly #isRollingOut: () => boolean;

  /** `isRollingOut`: whether pods of the collectors are of an older template than their StatefulSet. */
  constructor(isRollingOut: () => boolean = () => false) {
    this.#isRollingOut = isRollingOut;
  }

  /** Takes the jobs of a new configuration. */
  update(jobs: readonly Job[], now: number): void {
    this.#settle(now);
    const known = this.#files;
    const since = (file: string) => (known === undefined ? -Infinity : (known.get(file) ?? now));
    const before = new Map(this.#served);
    for (const [key, { former }] of this.#pending)
      if (former === undefined) before.delete(key);
      else before.set(key, former);
    const pending = jobs.flatMap(({ key, secretFiles }): [string, Pending][] => {
      const until = Math.max(-Infinity, ...Array.from(secretFiles.keys(), since)) + MOUNT_TIME;
      const isPending = until > now || (secretFiles.size > 0 && this.#pending.has(key));
      return isPending ? [[key, { until, former: before.get(key) }]] : [];
    });
    this.#files = new Map(
      jobs.flatMap(({ secretFiles }) => Array.from(secretFiles.keys(), (file) => [file, since(file)])),
    );
    this.#served = new Map(jobs.map(({ key, served }) => [key, served]));
    this.#pending = new Map(pending);
  }

  /** What collectors are told of a job now; undefined if they are not told of it yet. */
  servedNow({ key, served }: Job, now: number): Fields | undefined {
    this.#settle(now);
    const pending = this.#pending.get(key);
    return pending === undefined ? served : pending.former;
  }

  /** Whether a job is served otherwise than its configuration says. */
  isPending(now: number): boolean {
    this.#settle(now);
    return this.#pending.size > 0;
  }

  /** What was mounted once stays so: a later rollout is not waited for. */
  #settle(now: number): void {
    if (this.#pending.size === 0 || this.#isRollingOut()) return;
    this.#pending = new Map([...this.#pending].filter(([, { until }]) => until > now));
  }
}
