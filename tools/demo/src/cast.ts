import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Line, ServiceProcess } from "@evenkeel/testkit";
import type { KubeClient } from "@evenkeel/kube";
import type { Actor } from "./front.ts";
import type { Harbour } from "./harbour.ts";
import type { Check, Scene, Story } from "./story.ts";

const root = join(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** How long an outcome of a story at speed may take, in milliseconds. */
const PATIENCE = 30_000;

export interface CastOptions {
  readonly kube: KubeClient;
  readonly harbour: Harbour;
  readonly kubeconfig: string;
  readonly tell: (line: string) => void;
  readonly stories: readonly Story[];
}

/** The services of all stories, each on its scene. */
export class Cast {
  readonly #options: CastOptions;
  /** By service. */
  readonly #scenes = new Map<string, Scene>();
  readonly #processes: ServiceProcess[] = [];
  readonly #ends: (() => void)[] = [];

  constructor(options: CastOptions) {
    this.#options = options;
  }

  /** Starts every service. Resolves when all are ready. */
  async enter(): Promise<readonly Actor[]> {
    return Promise.all(this.#options.stories.map((story) => this.#enter(story)));
  }

  play(): void {
    for (const scene of this.#scenes.values()) this.#ends.push(scene.play());
  }

  /**
   * Plays all stories at speed, at the same time. Tells first how many checks each has. Resolves with whether all
   * passed.
   */
  async rehearse(): Promise<boolean> {
    await this.enter();
    for (const [service, { checks }] of this.#scenes) {
      this.#options.tell(`${service}  the story has ${checks.length} checks`);
    }
    const passed = await Promise.all([...this.#scenes.values()].map(({ checks }) => this.#rehearse(checks)));
    return passed.every((one) => one);
  }

  /** Resolves when a service has ended, which none does by itself. */
  async ended(): Promise<void> {
    await Promise.race(this.#processes.map((service) => service.exit));
    throw new Error("a service ended by itself; its last lines are above");
  }

  async leave(): Promise<void> {
    for (const end of this.#ends) end();
    for (const service of this.#processes) service.signal("SIGTERM");
    await Promise.all(this.#processes.map((service) => service.exit));
    for (const scene of this.#scenes.values()) await scene[Symbol.asyncDispose]();
  }

  async #enter(story: Story): Promise<Actor> {
    const { kube, harbour, kubeconfig, tell } = this.#options;
    const { service, about } = story;
    const app = join(root, "apps", service);
    if (existsSync(join(app, "dashboard"))) await buildDashboard(service);
    const scene = await story.open({ kube, harbour, tell });
    this.#scenes.set(service, scene);
    const common = [`--kubeconfig=${kubeconfig}`, "--insecure", "--grpc-port=0", "--state=sqlite::memory:"];
    const actor = ServiceProcess.start(join(app, "src/main.ts"), [...common, ...scene.flags], {
      env: { ...process.env, ...scene.env },
      detached: true,
      onLine: (line) => this.#report(service, line),
    });
    this.#processes.push(actor);
    const port = Number(new URL(await actor.url("admin", "/")).port);
    return { service, about, port, controls: scene.controls };
  }

  /** Decisions, and what goes wrong; the rest of a service's log is for whoever runs it in earnest. */
  #report(service: string, { decision, object, action, msg, level, error }: Line): void {
    const { tell } = this.#options;
    if (typeof msg !== "string") return;
    if (decision !== undefined) tell(`${service}  ${String(object)}  ${String(action)}: ${msg}`);
    else if (level === "warn" || level === "error") tell(`${service}  ${level}: ${msg} ${detail(error)}`);
  }

  async #rehearse(checks: readonly Check[]): Promise<boolean> {
    let passed = true;
    for (const check of checks) passed = (await this.#try(check)) && passed;
    return passed;
  }

  async #try(check: Check): Promise<boolean> {
    const { tell } = this.#options;
    const { name } = check;
    const end = performance.now() + PATIENCE;
    try {
      await check.act?.();
    } catch (error) {
      tell(`FAILED  ${name}: ${String(error)}`);
      return false;
    }
    for (;;) {
      try {
        await check.outcome();
        tell(`ok      ${name}`);
        return true;
      } catch (error) {
        if (performance.now() > end) {
          tell(`FAILED  ${name}: ${String(error)}`);
          return false;
        }
      }
      await sleep(100);
    }
  }
}

/** By nx, which does nothing where it is built already. */
async function buildDashboard(service: string): Promise<void> {
  await run("nx", ["run", `${service}:dashboard`], { cwd: root });
}

function detail(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : "";
}
