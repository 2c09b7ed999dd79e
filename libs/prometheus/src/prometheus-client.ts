import { type Clock, type Component, withDeadline } from "@evenkeel/runtime";
import type { ServerAddress } from "./address.ts";
import type { Advice } from "./advice.ts";
import { Connections, type Trust } from "./connections.ts";
import { basicAuthorization } from "./credentials.ts";
import { exchange, type HttpAnswer } from "./exchange.ts";
import { failureMessage, isCut } from "./failure.ts";
import { masked } from "./masked.ts";
import { parseQueryAnswer, type QueryAnswer } from "./query-answer.ts";
import { refusalMessage } from "./refusal.ts";
import type { ServerGuard } from "./server-guard.ts";

export interface PrometheusClientOptions {
  readonly clock: Clock;
  /** The User-Agent that servers see, such as `evenkeel-scale-resolver`. */
  readonly userAgent: string;
  readonly advice: Advice;
  /** The proxy for requests to a server, if any, as HTTPS_PROXY, HTTP_PROXY and NO_PROXY have it. */
  readonly proxyFor: (server: URL) => string | undefined;
  /** Which servers may be asked. Absent: all. */
  readonly guard?: ServerGuard | undefined;
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
  /** Tenants take turns at a server. Absent: the query may use every slot. */
  readonly tenant?: string;
  /** The most bytes of the answer. A larger one fails. Default 1 MiB. */
  readonly limit?: number;
  /** Whether samples keep the labels of their series. Default false. */
  readonly labelled?: boolean;
}

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
 * Asks metric servers. A server is asked at most eight queries at once from all callers. Further ones wait, and tenants take turns.
 * A slow server delays only queries to itself.
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
  async query(query: Query): Promise<QueryOutcome> {
    const { clock, advice } = this.#options;
    const { address, timeout, begun = clock.monotonic(), signal } = query;
    const user = address.user && basicAuthorization(address.user);
    const secrets = [...(query.secrets ?? []), ...(user?.secrets ?? [])];
    const authorization = query.authorization ?? user?.header;
    const deadline = { clock, milliseconds: timeout - (clock.monotonic() - begun), signal, what: "the query" };
    const send = (limit: AbortSignal) => this.#send({ ...query, begun, authorization, signal: limit });
    const outcome = await withDeadline(deadline, send).then(
      (asked) => this.#outcomeOf(asked, secrets, query.labelled),
      (error: unknown): QueryOutcome => {
        const attempt = { seconds: timeout / 1000, isSecure: address.origin.startsWith("https:") };
        const message = signal.aborted ? "the query was given up" : failureMessage(error, attempt, advice);
        return { kind: "failed", message };
      },
    );
    return outcome.kind === "failed" ? { ...outcome, message: masked(outcome.message, secrets) } : outcome;
  }

  /** Cuts every connection. Queries that are under way fail. */
  stop(): Promise<void> {
    return this.#connections.stop();
  }

  #send(query: Query & { readonly begun: number }): Promise<Asked> {
    const { clock, userAgent } = this.#options;
    const { address, timeout, begun, lookback, authorization, trust = {}, signal, limit = DEFAULT_LIMIT } = query;
    return this.#connections.lane(address.origin).run(
      async () => {
        const left = timeout - (clock.monotonic() - begun);
        const parameters = {
          query: query.query,
          timeout: `${Math.max(1, Math.ceil(left / 1000))}s`,
          // Servers that do not know it ignore it. Without it they look back as far as they are set to.
          ...(lookback !== undefined && { lookback_delta: `${lookback / 1000}` }),
        };
        const headers = {
          "user-agent": userAgent,
          ...(authorization !== undefined && { authorization }),
          ...query.headers,
        };
        const askedAt = clock.now();
        const dispatcher = this.#connections.dispatcher(address.origin, trust);
        const request = { address, parameters, headers, signal, limit };
        // Once more on a fresh connection: asking twice does no harm, and a server's restart is no reason to be without a metric.
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
    if (!isSuccess || answer.kind === "malformed" || answer.kind === "error") {
      const { errorType, error } = answer.kind === "error" ? answer : { errorType: "", error: "" };
      // Before the words are cut: of a secret that is cut, the beginning would be left.
      const words = masked([errorType, error].filter(Boolean).join(": "), secrets);
      const why = answer.kind === "malformed" ? answer.why : undefined;
      return { kind: "failed", message: refusalMessage({ status, location, words, why }, this.#options.advice) };
    }
    if (answer.kind === "unfit") return answer;
    return { ...answer, warnings: answer.warnings.map((warning) => masked(warning, secrets)), askedAt };
  }
}

interface Asked {
  readonly answer: HttpAnswer;
  readonly askedAt: number;
}
