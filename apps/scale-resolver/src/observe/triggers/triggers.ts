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
  /** Milliseconds between two reads for a service. An answer is valid for half of it. */
  readonly interval: number;
  /** The server of triggers without serverAddress. */
  readonly address: URL | undefined;
  /** The proxy for requests to a server, from HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  readonly proxyFor: (server: URL) => string | undefined;
}

type Verdict = Omit<TriggerReading, "trigger">;

/** Maximum triggers of one ElastiService. More are probably a mistake. */
const MOST_TRIGGERS = 32;

/** Reads the triggers of services. A trigger that cannot be read is unknown, never idle. */
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

  /** Closes every connection. Reads after this are unknown. */
  stop(): Promise<void> {
    return this.#client.stop();
  }

  /**
   * One reading for each trigger, in order. Each query is sent to a server once in half of `interval`, for all
   * services. Rejects only with the reason of the signal.
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
   * Why the server's data is incomplete: a server that was down, or is new, has not seen all requests, and a rate over
   * them is too low. Undefined if it was up for the whole cooldown.
   */
  async #downtime(
    { server, uptimeFilter }: PrometheusTrigger,
    cooldownSeconds: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const seconds = Math.ceil(cooldownSeconds);
    let outcome = await this.#answers.ask(server, uptimeQuery(uptimeFilter, seconds, ""), signal);
    // Without a step, a server uses its own evaluation interval, which may be longer than the range.
    if (outcome.kind === "samples" && outcome.samples.length === 0)
      outcome = await this.#answers.ask(server, uptimeQuery(uptimeFilter, seconds, "1s"), signal);
    const up = singleValue(outcome);
    if ("fault" in up) return `the uptime of the server is not known: ${up.fault}`;
    if (up.value === 1) return undefined;
    return `the server was not up for the last ${seconds} s: up{${bounded(uptimeFilter, 100)}} was not always 1 (see uptimeFilter)`;
  }
}

/** The original's query: 1 if a matching target was up at each step of the range. */
function uptimeQuery(filter: string, seconds: number, step: string): string {
  return `min_over_time((max(up{${filter}}) or vector(0))[${seconds}s:${step}])`;
}

/** The value that the original treats as no value. */
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
