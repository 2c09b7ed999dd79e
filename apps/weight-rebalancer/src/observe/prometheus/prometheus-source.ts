import { durationMilliseconds } from "@evenkeel/api";
import {
  failureMessage,
  masked,
  parseAddress,
  type PrometheusClient,
  type QueryOutcome,
  type ServerAddress,
} from "@evenkeel/prometheus";
import { withDeadline } from "@evenkeel/runtime";
import type { MetricReading } from "../../decide/snapshot.ts";
import { BadSource } from "../errors.ts";
import type { MetricSource } from "../metric-source.ts";
import { advice } from "./advice.ts";
import { type Authorization, authorizationOf, type PrometheusSpec, secretsOf } from "./authorization.ts";
import type { PrometheusSourcesOptions } from "./prometheus-sources.ts";
import { faulty, readingOf } from "./reading.ts";

export interface PrometheusSourceOptions extends PrometheusSourcesOptions {
  readonly client: Pick<PrometheusClient, "query">;
  readonly namespace: string;
  readonly spec: PrometheusSpec;
}

/** Milliseconds after which a sample is stale, unless the spec has maxAge: the lookback of Prometheus. */
const MAX_AGE = 300_000;

/** One query of one object. */
export class PrometheusSource implements MetricSource {
  readonly name: string;
  readonly #options: PrometheusSourceOptions;
  /** Undefined for an invalid URL, which is reported when it is read. */
  readonly #address: ServerAddress | undefined;
  readonly #maxAge: number;

  constructor(options: PrometheusSourceOptions) {
    this.#options = options;
    this.#address = parseAddress(options.spec.address);
    this.name = this.#address === undefined ? "prometheus" : `prometheus ${this.#address.shown}`;
    const { maxAge } = options.spec;
    this.#maxAge = (maxAge === undefined ? undefined : durationMilliseconds(maxAge)) ?? MAX_AGE;
  }

  async read(signal: AbortSignal): Promise<MetricReading> {
    const { clock, queries } = this.#options;
    const begun = clock.monotonic();
    // Filled as Secrets are read, so that they are masked in a reading if the server repeats them.
    const secrets: string[] = [];
    const reading = this.#readingOf(await this.#ask(begun, signal, secrets));
    queries.observe({ result: reading.fault === null ? "ok" : "fault" }, (clock.monotonic() - begun) / 1000);
    return reading.fault === null ? reading : { ...reading, message: masked(reading.message, secrets) };
  }

  /** Reading Secrets counts against the timeout of the query. */
  async #ask(begun: number, signal: AbortSignal, seen: string[]): Promise<QueryOutcome> {
    const { clock, client, spec, namespace } = this.#options;
    const timeout = spec.timeout * 1000;
    try {
      const address = this.#checkedAddress();
      const deadline = { clock, milliseconds: timeout, signal, what: "the query" };
      const { authorization, headers, trust, secrets } = await withDeadline(deadline, (limit) =>
        this.#authorize(limit),
      );
      seen.push(...secrets);
      const lookback = spec.maxAge === undefined ? undefined : this.#maxAge;
      const { query } = spec;
      return await client.query({
        ...{
          address,
          query,
          timeout,
          begun,
          lookback,
          headers,
          authorization,
          trust,
          secrets,
          signal,
          tenant: namespace,
        },
      });
    } catch (error) {
      const attempt = { seconds: spec.timeout, isSecure: this.#address?.origin.startsWith("https:") === true };
      const message = signal.aborted
        ? "the query was aborted before the server answered"
        : failureMessage(error, attempt, advice);
      return { kind: "failed", message };
    }
  }

  #checkedAddress(): ServerAddress {
    if (this.#address === undefined) {
      const field = "spec.metrics.prometheus.address";
      throw new BadSource({ fault: `${field} is not a URL with http:// or https://, such as http://prometheus:9090` });
    }
    if (!(this.#maxAge > 0)) throw new BadSource({ fault: "maxAge must be greater than 0" });
    return this.#address;
  }

  #authorize(signal: AbortSignal): Promise<Authorization> {
    const { secrets, namespace, spec } = this.#options;
    return authorizationOf(spec, secretsOf(secrets, namespace, signal));
  }

  #readingOf(outcome: QueryOutcome): MetricReading {
    const { log, clock, spec, namespace } = this.#options;
    if (outcome.kind === "failed") return faulty(this.name, "QueryFailed", outcome.message);
    const isOfSamples = outcome.kind === "samples";
    if (isOfSamples && outcome.warnings.length > 0)
      log.debug({ source: this.name, namespace, warnings: outcome.warnings }, "the metric server returned warnings");
    const askedAt = isOfSamples ? outcome.askedAt : clock.now();
    return readingOf(outcome, { source: this.name, reducer: spec.reducer, maxAge: this.#maxAge, askedAt });
  }
}
