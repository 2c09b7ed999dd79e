import { type Clock, systemClock } from "@evenkeel/runtime";
import { type LoopbackAnswer, type LoopbackRequest, LoopbackServer } from "../loopback/loopback-server.ts";
import { WireFaults } from "../loopback/wire-faults.ts";
import { evaluate, parseExpression } from "./expression.ts";
import { instantJson, type Line, type QueryAnswer, QueryError, rangeJson } from "./query-answer.ts";
import { checkDuration, readRange, readTime } from "./query-parameters.ts";
import { sampleAt, type Sample, type Series, sortedLabels } from "./series.ts";

export type PrometheusAuth =
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string };

export interface PrometheusOptions {
  readonly series?: readonly Series[];
  /** Seconds between samples; 1 unless told. */
  readonly interval?: number;
  /** Who may ask; everybody unless told. */
  readonly auth?: PrometheusAuth;
  readonly clock?: Clock;
  /** On loopback; a free one unless told. */
  readonly port?: number;
}

/** Brings up a Prometheus that answers queries in this process, on loopback. */
export async function startPrometheus(options: PrometheusOptions = {}): Promise<Prometheus> {
  const prometheus = new Prometheus(options);
  await prometheus.listen(options.port);
  return prometheus;
}

export class Prometheus {
  /** Latency, hangs, resets and answers of proxies, to be added and taken back. */
  readonly faults: WireFaults;
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #answers = new Map<string, (seconds: number) => QueryAnswer>();
  #series: readonly Series[] = [];
  #auth: PrometheusAuth | undefined;
  #server: LoopbackServer | undefined;

  constructor({ series = [], interval = 1, auth, clock = systemClock }: PrometheusOptions) {
    if (!(interval > 0)) throw new RangeError(`An interval must be above 0 s, not ${interval}`);
    this.#clock = clock;
    this.#interval = interval;
    this.#auth = auth;
    this.faults = new WireFaults(clock);
    this.feed(series);
  }

  async listen(port?: number): Promise<void> {
    this.#server = await LoopbackServer.start((request) => this.#answer(request), this.faults.hook, port);
  }

  /** The address for clients, such as `http://127.0.0.1:40123`. */
  get url(): string {
    if (this.#server === undefined) throw new Error("Prometheus does not listen yet: use startPrometheus");
    return this.#server.url;
  }

  /** These series instead of those before, for the past too. */
  feed(series: readonly Series[]): void {
    const keyed = series.map((one) => ({ one, key: JSON.stringify(sortedLabels(one.metric)) }));
    this.#series = keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ one }) => one);
  }

  /** Answers one exact text from now on, before it is taken as an expression. Returns what takes it back. */
  answer(query: string, answer: (seconds: number) => QueryAnswer): () => void {
    this.#answers.set(query, answer);
    return () => this.#answers.delete(query);
  }

  /** Who may ask from now on; undefined lets everybody. */
  requireAuth(auth: PrometheusAuth | undefined): void {
    this.#auth = auth;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  #answer({ method, path, query, headers, body }: LoopbackRequest): LoopbackAnswer {
    const scheme = this.#auth?.kind === "bearer" ? "Bearer" : "Basic";
    if (this.#auth && headers.authorization !== credentials(this.#auth))
      return { ...text(401, "Unauthorized\n"), headers: { "www-authenticate": scheme } };
    const serve = { "/api/v1/query": this.#instant, "/api/v1/query_range": this.#range }[path];
    if (serve === undefined) return text(404, "404 page not found\n");
    if (method !== "GET" && method !== "POST")
      return { ...text(405, "Method Not Allowed\n"), headers: { allow: "GET, OPTIONS, POST" } };
    const form = (headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded") ? body : "";
    // What the body says comes first.
    const parameters = new URLSearchParams([...new URLSearchParams(form), ...query]);
    try {
      return { code: 200, contentType: "application/json", body: serve.call(this, parameters) };
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return { code: error.status, contentType: "application/json", body: error.toJson() };
    }
  }

  #instant(parameters: URLSearchParams): string {
    const seconds = readTime(parameters, "time", this.#clock.now() / 1000);
    checkDuration(parameters, "timeout");
    return instantJson(this.#asker(parameters.get("query") ?? "")(seconds), seconds);
  }

  #range(parameters: URLSearchParams): string {
    const { start, end, step } = readRange(parameters);
    checkDuration(parameters, "timeout");
    const ask = this.#asker(parameters.get("query") ?? "");
    const lines = new Map<string, { metric: Line["metric"]; values: [number, number][] }>();
    for (let count = 0; start + count * step <= end; count += 1) {
      const seconds = Math.round((start + count * step) * 1000) / 1000;
      for (const { metric, value } of asVector(ask(seconds))) {
        const key = JSON.stringify(sortedLabels(metric));
        const line = lines.get(key) ?? { metric, values: [] };
        line.values.push([seconds, value]);
        lines.set(key, line);
      }
    }
    return rangeJson([...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line));
  }

  #asker(query: string): (seconds: number) => QueryAnswer {
    const given = this.#answers.get(query);
    if (given !== undefined) return given;
    const expression = parseExpression(query);
    return (seconds) => evaluate(expression, this.#samples(seconds));
  }

  #samples(seconds: number): Sample[] {
    return this.#series.flatMap((series) => {
      const value = sampleAt(series, seconds, this.#interval);
      return value === undefined ? [] : { metric: series.metric, value };
    });
  }
}

function asVector(answer: QueryAnswer): readonly Sample[] {
  if (answer.kind === "error") throw new QueryError(answer.errorType, answer.error);
  return answer.kind === "vector" ? answer.samples : [{ metric: {}, value: answer.value }];
}

function credentials(auth: PrometheusAuth): string {
  if (auth.kind === "bearer") return `Bearer ${auth.token}`;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString("base64")}`;
}

function text(code: number, body: string): LoopbackAnswer {
  return { code, contentType: "text/plain; charset=utf-8", body };
}
