import { durationMilliseconds } from "@evenkeel/api";
import { MASKED, withDeadline } from "@evenkeel/runtime";
import type { MetricReading } from "../../decide/snapshot.ts";
import { BadSource } from "../errors.ts";
import type { MetricSource } from "../metric-source.ts";
import { parseAddress, type ServerAddress } from "./address.ts";
import { authorizationOf, type PrometheusSpec, secretsOf } from "./authorization.ts";
import type { Connections } from "./connections.ts";
import { exchange, type HttpAnswer } from "./exchange.ts";
import type { PrometheusSourcesOptions } from "./prometheus-sources.ts";
import { parseQueryAnswer } from "./query-answer.ts";
import { faulty, readingOf } from "./reading.ts";
import { failureMessage, isCut, refusalMessage } from "./refusal.ts";

export interface PrometheusSourceOptions extends PrometheusSourcesOptions {
  readonly connections: Connections;
  readonly namespace: string;
  readonly spec: PrometheusSpec;
}

/** Milliseconds from which a sample is stale unless the spec says so: what Prometheus itself looks back. */
const MAX_AGE = 300_000;

/** An answer and when it was asked for, by the wall clock. */
interface Asked {
  readonly answer: HttpAnswer;
  readonly askedAt: number;
}

/** One query of one object. */
export class PrometheusSource implements MetricSource {
  readonly name: string;
  readonly #options: PrometheusSourceOptions;
  /** Undefined for what is no address; asking then says so. */
  readonly #address: ServerAddress | undefined;
  readonly #maxAge: number;

  constructor(options: PrometheusSourceOptions) {
    this.#options = options;
    this.#address = addressOf(options.spec);
    this.name = this.#address === undefined ? "prometheus" : `prometheus ${this.#address.shown}`;
    const { maxAge } = options.spec;
    this.#maxAge = (maxAge === undefined ? undefined : durationMilliseconds(maxAge)) ?? MAX_AGE;
  }

  async read(signal: AbortSignal): Promise<MetricReading> {
    const { clock, spec, queries } = this.#options;
    const begun = clock.monotonic();
    // Filled as Secrets are read, so that what fails later is masked as well.
    const secrets: string[] = [];
    const deadline = { clock, milliseconds: spec.timeout * 1000, signal, what: "the query" };
    const reading = await withDeadline(deadline, (limit) => this.#ask(begun, limit, secrets)).then(
      (asked) => this.#readingOf(asked, secrets),
      (error: unknown) => {
        const attempt = { seconds: spec.timeout, isSecure: this.#address?.origin.startsWith("https:") === true };
        const message = signal.aborted ? "the query was given up" : failureMessage(error, attempt);
        return faulty(this.name, "QueryFailed", message);
      },
    );
    queries.observe({ result: reading.fault === null ? "ok" : "fault" }, (clock.monotonic() - begun) / 1000);
    return reading.fault === null ? reading : { ...reading, message: masked(reading.message, secrets) };
  }

  async #ask(begun: number, signal: AbortSignal, seen: string[]): Promise<Asked> {
    const { clock, connections, secrets, namespace, spec } = this.#options;
    const address = this.#address ?? parseAddress(spec.address);
    if (!(this.#maxAge > 0)) throw new BadSource({ fault: "maxAge is not above 0" });
    const read = secretsOf(secrets, namespace, signal);
    const authorization = await authorizationOf(spec, address.user, read);
    seen.push(...authorization.secrets);
    return connections.lane(address.origin).run(async () => {
      const left = spec.timeout * 1000 - (clock.monotonic() - begun);
      const parameters = {
        query: spec.query,
        timeout: `${Math.max(1, Math.ceil(left / 1000))}s`,
        // Servers that do not know it ignore it. Without it they look back as far as they are set to.
        ...(spec.maxAge !== undefined && { lookback_delta: `${this.#maxAge / 1000}` }),
      };
      const askedAt = clock.now();
      const dispatcher = connections.dispatcher(address.origin, authorization.trust);
      const request = { address, parameters, headers: authorization.headers, signal };
      // Once more on a fresh connection: asking twice does no harm, and a server's restart is no reason to be without a metric.
      const answer = await exchange(dispatcher, request).catch((error: unknown) => {
        if (!isCut(error) || signal.aborted) throw error;
        return exchange(dispatcher, request);
      });
      return { answer, askedAt };
    }, signal);
  }

  #readingOf({ answer: { status, location, body }, askedAt }: Asked, secrets: readonly string[]): MetricReading {
    const { log, spec, namespace } = this.#options;
    const answer = parseQueryAnswer(body);
    const isSuccess = status >= 200 && status < 300;
    if (!isSuccess || answer.kind === "malformed" || answer.kind === "error") {
      const { errorType, error } = answer.kind === "error" ? answer : { errorType: "", error: "" };
      const words = masked([errorType, error].filter(Boolean).join(": "), secrets);
      const why = answer.kind === "malformed" ? answer.why : undefined;
      return faulty(this.name, "QueryFailed", refusalMessage({ status, location, words, why }));
    }
    if (answer.kind === "samples" && answer.warnings.length > 0) {
      const warnings = answer.warnings.map((warning) => masked(warning, secrets));
      log.debug({ source: this.name, namespace, warnings }, "the metric server warns");
    }
    return readingOf(answer, { source: this.name, reducer: spec.reducer, maxAge: this.#maxAge, askedAt });
  }
}

function addressOf({ address }: PrometheusSpec): ServerAddress | undefined {
  try {
    return parseAddress(address);
  } catch {
    return undefined;
  }
}

/** Values this short occur by chance in most sentences. */
const SHORTEST_SECRET = 4;

/** A server, or a proxy before it, may repeat what it was sent. */
function masked(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, MASKED), text);
}
