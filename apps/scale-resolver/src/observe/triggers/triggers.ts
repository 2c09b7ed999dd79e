import { bounded, PrometheusClient } from "@evenkeel/prometheus";
import type { Clock, Component, Logger } from "@evenkeel/runtime";
import type { Binding, Trigger } from "../../binding.ts";
import type { TriggerReading } from "../../decide/snapshot.ts";
import { advice } from "./advice.ts";
import { nameOf, type PrometheusTrigger, prometheusTrigger } from "./prometheus-trigger.ts";
import { SharedAnswers } from "./shared-answers.ts";
import { singleValue, type SingleValue } from "./single-value.ts";

export interface TriggersOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds between two looks at a service. An answer is good for half of it. */
  readonly interval: number;
  /** The server of triggers that name none. */
  readonly address: URL | undefined;
  /** The proxy for requests to a server, if any, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY have it. */
  readonly proxyFor: (server: URL) => string | undefined;
}

type Verdict = Omit<TriggerReading, "trigger">;

/** Triggers of one ElastiService that are read. More show an object that was meant otherwise. */
const MOST_TRIGGERS = 32;

/** Reads what says whether a service is idle. Whatever stands in the way makes a trigger unknown, and never idle. */
export class Triggers implements Component {
  readonly name = "triggers";
  readonly #options: TriggersOptions;
  readonly #client: PrometheusClient;
  readonly #answers: SharedAnswers;

  constructor(options: TriggersOptions) {
    const { clock, interval } = options;
    this.#options = options;
    this.#client = new PrometheusClient({ ...options, advice, userAgent: "evenkeel-scale-resolver" });
    this.#answers = new SharedAnswers({ client: this.#client, clock, life: interval / 2 });
  }

  /** Cuts every connection. What is asked then is unknown. */
  stop(): Promise<void> {
    return this.#client.stop();
  }

  /**
   * One reading a trigger, in their order. A server is asked each question once in half of `interval`, whoever asks it. Rejects only with the signal's reason.
   */
  async read(
    { namespace, triggers, cooldown }: Pick<Binding, "namespace" | "triggers" | "cooldown">,
    signal: AbortSignal,
  ): Promise<readonly TriggerReading[]> {
    const readings = await Promise.all(
      triggers.slice(0, MOST_TRIGGERS).map((trigger) => this.#read(namespace, trigger, cooldown / 1000, signal)),
    );
    if (triggers.length <= MOST_TRIGGERS) return readings;
    const message = `${triggers.length} triggers exceed the limit of ${MOST_TRIGGERS}`;
    return [...readings, { trigger: "the rest", ...unknown(message) }];
  }

  async #read(
    namespace: string,
    trigger: Trigger,
    cooldownSeconds: number,
    signal: AbortSignal,
  ): Promise<TriggerReading> {
    const name = nameOf(trigger);
    const checked = prometheusTrigger(trigger.metadata, this.#options.address);
    if ("fault" in checked) return { trigger: name, ...unknown(checked.fault) };
    const downtime = await this.#downtime(checked, cooldownSeconds, signal);
    if (downtime !== undefined) return { trigger: name, ...unknown(downtime) };
    const outcome = await this.#answers.ask(checked.server, checked.query, signal);
    if (outcome.kind === "samples" && outcome.warnings.length > 0)
      this.#options.log.debug(
        { namespace, trigger: name, warnings: outcome.warnings },
        "the metric server returned warnings",
      );
    return { trigger: name, ...verdictOf(singleValue(outcome), checked.threshold) };
  }

  /**
   * Why the server cannot be believed: one that was down, or is new, has not seen the requests of that time, and a rate over them is
   * too low. Nothing if it was up for the whole cooldown.
   */
  async #downtime(
    { server, uptimeFilter }: PrometheusTrigger,
    cooldownSeconds: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const seconds = Math.ceil(cooldownSeconds);
    let outcome = await this.#answers.ask(server, uptimeQuery(uptimeFilter, seconds, ""), signal);
    // A server evaluates at its own interval unless it is told one, which in a shorter time it may not do once.
    if (outcome.kind === "samples" && outcome.samples.length === 0)
      outcome = await this.#answers.ask(server, uptimeQuery(uptimeFilter, seconds, "1s"), signal);
    const up = singleValue(outcome);
    if ("fault" in up) return `the uptime of the server is not known: ${up.fault}`;
    if (up.value === 1) return undefined;
    return `the server was not up for the last ${seconds} s: up{${bounded(uptimeFilter, 100)}} was not always 1 (see uptimeFilter)`;
  }
}

/** The original's question: 1 if something that fits was up at each step of the time. */
function uptimeQuery(filter: string, seconds: number, step: string): string {
  return `min_over_time((max(up{${filter}}) or vector(0))[${seconds}s:${step}])`;
}

/** What the original takes for no value. */
const NONE = -1;

function verdictOf(read: SingleValue, threshold: number): Verdict {
  if ("fault" in read) return unknown(read.fault);
  const { value } = read;
  if (value === NONE) return unknown("the value is -1, which means no value");
  return value < threshold
    ? { verdict: "idle", message: `${value} is below ${threshold}` }
    : { verdict: "busy", message: `${value} is not below ${threshold}` };
}

function unknown(message: string): Verdict {
  return { verdict: "unknown", message };
}
