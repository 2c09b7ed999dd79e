import { type Clock, type Component, withDeadline } from "@evenkeel/runtime";
import type { ServerAddress } from "./address.ts";
import type { Advice } from "./advice.ts";
import { Connections, type Trust } from "./connections.ts";
import { basicAuthorization } from "./credentials.ts";
import { exchange, type HttpAnswer } from "./exchange.ts";
import { failureMessage, isCut } from "./failure.ts";
import { masked } from "./masked.ts";
import { parseQueryAnswer, type QueryAnswer } from "./query-answer.ts";
import { parseRangeAnswer, type RangeAnswer } from "./range-answer.ts";
import { refusalMessage } from "./refusal.ts";
import type { ServerGuards } from "./server-guard.ts";

export interface PrometheusClientOptions {
  readonly clock: Clock;
  /** The User-Agent that servers see, such as `evenkeel-scale-resolver`. */
  readonly userAgent: string;
  readonly advice: Advice;
  /** The proxy for requests to a server, if any, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY have it. */
  readonly proxyFor: (server: URL) => string | undefined;
  /** Which servers a tenant may ask. Absent: all. */
  readonly guards?: ServerGuards | undefined;
}

export interface Query {
  readonly address: ServerAddress;
  readonly query: string;
  /** Milliseconds from `begun` to the end of the answer. */
  readonly timeout: number;
  /** When the time began to run, on the monotonic clock. Absent: now. */
  readonly begun?: number;
  /** Milliseconds that a server looks back for a sample, if it can be told. Absent: as it is set. */
  readonly lookback?: number | undefined;
  /** Lower-case names. Among them, `authorization` goes before the field of that name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The value of the header. Absent: user and password of the address, if it has them. */
  readonly authorization?: string | undefined;
  readonly trust?: Trust;
  /** What is masked where a server repeats it, besides the password of the address. */
  readonly secrets?: readonly string[];
  readonly signal: AbortSignal;
  /** Tenants take turns at a server, and may be allowed servers of their own. Absent: the query may use every slot. */
  readonly tenant?: string;
  /** The most bytes of the answer. A larger one fails. Default 1 MiB. */
  readonly limit?: number;
  /** Whether samples keep the labels of their series. Default false. */
  readonly labelled?: boolean;
}

/** The same query for many times. All are in milliseconds since the epoch, the step too is in milliseconds. */
export interface RangeQuery extends Omit<Query, "lookback" | "labelled"> {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

export type RangeOutcome =
  Extract<RangeAnswer, { kind: "series" }> | { readonly kind: "failed"; readonly message: string };

const DEFAULT_LIMIT = 2 ** 20;

export type QueryOutcome =
  | (Extract<QueryAnswer, { kind: "samples" }> & {
      /** When the query was sent, by this process's wall clock. */
      readonly askedAt: number;
    })
  | Extract<QueryAnswer, { kind: "unfit" }>
  /** There is no answer, or one that is no success. The message says why, and what to do. */
  | { readonly kind: "failed"; readonly message: string };

/**
 * Asks metric servers. A server is asked at most eight queries at once from all callers. Further ones wait, and tenants
 * take turns. A slow server delays only queries to itself.
 */
export class PrometheusClient implements Component {
  readonly name = "prometheus";
  readonly #options: PrometheusClientOptions;
  readonly #connections: Connections;

  constructor(options: PrometheusClientOptions) {
    this.#options = options;
    this.#connections = new Connections(options);
  }

  /** Never rejects. */
  query(query: Query): Promise<QueryOutcome> {
    // Servers that do not know the lookback ignore it. Without it they look back as far as they are set to.
    const { lookback } = query;
    const parameters: Parameters = lookback === undefined ? {} : { lookback_delta: `${lookback / 1000}` };
    return this.#ask(query, parameters, (asked, secrets) => this.#outcomeOf(asked, secrets, query.labelled));
  }

  /** Never rejects. The server must accept as many steps in one answer: Prometheus accepts 11,000. */
  range(query: RangeQuery): Promise<RangeOutcome> {
    const { address } = query;
    const ranged = { ...query, address: { ...address, path: `${address.path}_range` } };
    return this.#ask<RangeOutcome>(ranged, spanParameters(query), ({ answer: { status, location, body } }, secrets) => {
      const answer = parseRangeAnswer(body);
      if (status >= 200 && status < 300 && answer.kind === "series") return answer;
      return this.#refused({ status, location }, answer, secrets);
    });
  }

  async #ask<T>(
    query: Query,
    parameters: Parameters,
    outcomeOf: (asked: Asked, secrets: readonly string[]) => T | Failed,
  ): Promise<T | Failed> {
    const { clock, advice } = this.#options;
    const { address, timeout, begun = clock.monotonic(), signal } = query;
    const user = address.user && basicAuthorization(address.user);
    const secrets = [...(query.secrets ?? []), ...(user?.secrets ?? [])];
    const authorization = query.authorization ?? user?.header;
    const deadline = { clock, milliseconds: timeout - (clock.monotonic() - begun), signal, what: "the query" };
    const send = (limit: AbortSignal) => this.#send({ ...query, begun, authorization, signal: limit }, parameters);
    return withDeadline(deadline, send).then(
      (asked) => outcomeOf(asked, secrets),
      (error: unknown): Failed => {
        const attempt = { seconds: timeout / 1000, isSecure: address.origin.startsWith("https:") };
        const message = signal.aborted ? "the query was given up" : failureMessage(error, attempt, advice);
        return { kind: "failed", message: masked(message, secrets) };
      },
    );
  }

  /** Cuts every connection. Queries that are under way fail. */
  stop(): Promise<void> {
    return this.#connections.stop();
  }

  #send(query: Query & { readonly begun: number }, more: Parameters): Promise<Asked> {
    const { clock, userAgent } = this.#options;
    const { address, timeout, begun, authorization, trust = {}, signal, limit = DEFAULT_LIMIT } = query;
    return this.#connections.lane(address.origin).run(
      async () => {
        const left = timeout - (clock.monotonic() - begun);
        const parameters = {
          query: query.query,
          timeout: `${Math.max(1, Math.ceil(left / 1000))}s`,
          ...more,
        };
        const headers = {
          "user-agent": userAgent,
          ...(authorization !== undefined && { authorization }),
          ...query.headers,
        };
        const askedAt = clock.now();
        const dispatcher = this.#connections.dispatcher(address.origin, trust, query.tenant);
        const request = { address, parameters, headers, signal, limit };
        // Once more on a fresh connection: asking twice does no harm, and a server's restart is no reason to be without
        // a metric.
        const answer = await exchange(dispatcher, request).catch((error: unknown) => {
          if (!isCut(error) || signal.aborted) throw error;
          return exchange(dispatcher, request);
        });
        return { answer, askedAt };
      },
      signal,
      query.tenant,
    );
  }

  #outcomeOf(
    { answer: { status, location, body }, askedAt }: Asked,
    secrets: readonly string[],
    labelled = false,
  ): QueryOutcome {
    const answer = parseQueryAnswer(body, { labelled });
    const isSuccess = status >= 200 && status < 300;
    if (!isSuccess || answer.kind === "malformed" || answer.kind === "error")
      return this.#refused({ status, location }, answer, secrets);
    if (answer.kind === "unfit") return answer;
    return { ...answer, warnings: answer.warnings.map((warning) => masked(warning, secrets)), askedAt };
  }

  #refused(
    { status, location }: Pick<HttpAnswer, "status" | "location">,
    answer: QueryAnswer | RangeAnswer,
    secrets: readonly string[],
  ): Failed {
    const { errorType, error } = answer.kind === "error" ? answer : { errorType: "", error: "" };
    // Before the words are cut: of a secret that is cut, the beginning would be left.
    const words = masked([errorType, error].filter(Boolean).join(": "), secrets);
    const why = answer.kind === "malformed" ? answer.why : undefined;
    const message = refusalMessage({ status, location, words, why }, this.#options.advice);
    return { kind: "failed", message: masked(message, secrets) };
  }
}

/** What a request has besides query and timeout. */
type Parameters = Readonly<Record<string, string>>;

type Failed = Extract<QueryOutcome, { kind: "failed" }>;

/** The parameters of `query_range`, in seconds. */
export function spanParameters({ start, end, step }: Pick<RangeQuery, "start" | "end" | "step">): Parameters {
  return { start: `${start / 1000}`, end: `${end / 1000}`, step: `${step / 1000}` };
}

interface Asked {
  readonly answer: HttpAnswer;
  readonly askedAt: number;
}
