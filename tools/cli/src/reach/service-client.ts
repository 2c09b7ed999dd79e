import type { Readable } from "node:stream";
import { type Clock, type Decision, explain, runtimeErrors, withDeadline } from "@evenkeel/runtime";
import { BadAnswer, Unanswered } from "../errors.ts";
import { liveText, type ServerSentEvent, serverSentEvents } from "../stream/server-sent-events.ts";
import { decisionOf, fieldsOf, listOf, numberOf, textOf } from "../wire.ts";
import type { Connection, ServiceRequest } from "./connection.ts";

/** Maximum characters of a response: more than a thousand decisions. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

/** Maximum silence of a stream, in milliseconds. Services send a comment every 15 s. */
const SILENCE = 45_000;

/** What a process reports about itself. */
export interface ProcessStatus {
  readonly service: string;
  readonly version: string;
  readonly phase: string;
  /** Milliseconds since it started. */
  readonly uptime: number;
  /** Why it is not ready; empty if it is. */
  readonly unready: readonly { readonly name: string; readonly reason: string }[];
  /** Its settings as they may be shown: flag without dashes → value. */
  readonly settings: ReadonlyMap<string, string>;
}

export type Parameters = Readonly<Record<string, string | number>>;

export interface ServiceClientOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** Maximum milliseconds of a whole response. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** The JSON API of one service, `/api/v1/<Service>/<Method>`. */
export class ServiceClient {
  readonly #options: ServiceClientOptions;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
  }

  get place(): string {
    return this.#options.connection.place;
  }

  async status(): Promise<ProcessStatus> {
    const answer = fieldsOf(await this.get("Runtime/Status"));
    const { service, version, phase, uptime, unready, settings } = answer;
    if (textOf(service) === "" || textOf(version) === "") throw this.#bad("it does not name its service");
    return {
      ...{ service: textOf(service), version: textOf(version), phase: textOf(phase), uptime: numberOf(uptime) ?? 0 },
      unready: listOf(unready).map((entry) => {
        const { name, reason } = fieldsOf(entry);
        return { name: textOf(name), reason: textOf(reason) };
      }),
      settings: new Map(
        listOf(settings).map((entry) => {
          const { name, value } = fieldsOf(entry);
          return [textOf(name), textOf(value)];
        }),
      ),
    };
  }

  /** The last decisions, the newest first. */
  async decisions(filter: Parameters): Promise<readonly Decision[]> {
    return this.decisionsOf(fieldsOf(await this.get("Decisions/List", filter))["decisions"]);
  }

  /** The decisions of a list in an answer. */
  decisionsOf(list: unknown): readonly Decision[] {
    return listOf(list).map((entry) => this.decisionOf(entry));
  }

  decisionOf(value: unknown): Decision {
    const decision = decisionOf(value);
    if (decision === undefined) throw this.#bad("an entry is not a decision");
    return decision;
  }

  /** Calls a read-only method with the scalar fields of its request. */
  async get(method: string, query: Parameters = {}): Promise<unknown> {
    return this.#json(await this.text(`/api/v1/${method}`, query));
  }

  /** Calls a method with any request. */
  async post(method: string, body: unknown): Promise<unknown> {
    return this.#json(await this.#whole({ method: "POST", path: `/api/v1/${method}`, body }));
  }

  /** The text of an answer. */
  text(path: string, query: Parameters = {}, accept = "application/json"): Promise<string> {
    return this.#whole({ path, query, accept });
  }

  /**
   * Opens a stream; the deadline applies until it starts. It fails when it is cut, and when it is silent for too long.
   */
  async open(method: string, query: Parameters): Promise<AsyncIterable<ServerSentEvent>> {
    const { connection, clock, signal } = this.#options;
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    const request = { path: `/api/v1/${method}`, query, accept: "text/event-stream", signal: ending.signal };
    try {
      const body = await this.#within(() => connection.send(request));
      body.once("close", () => signal.removeEventListener("abort", end));
      return serverSentEvents(liveText(body, { clock, silence: SILENCE, place: this.place }));
    } catch (error) {
      signal.removeEventListener("abort", end);
      ending.abort();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#options.connection.close();
  }

  #whole(request: Omit<ServiceRequest, "signal">): Promise<string> {
    return this.#within(async (signal) => this.#read(await this.#options.connection.send({ ...request, signal })));
  }

  async #read(body: Readable): Promise<string> {
    let text = "";
    try {
      for await (const chunk of body.setEncoding("utf8")) {
        text += chunk as string;
        if (text.length > ANSWER_LIMIT) throw this.#bad(`it is longer than ${ANSWER_LIMIT} characters`);
      }
    } catch (cause) {
      if (cause instanceof BadAnswer) throw cause;
      throw new Unanswered({ place: this.place, fault: `the connection broke during the answer: ${explain(cause)}` });
    }
    return text;
  }

  async #within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, deadline: milliseconds, signal } = this.#options;
    try {
      return await withDeadline({ clock, milliseconds, signal, what: this.place }, work);
    } catch (error) {
      if (!(error instanceof runtimeErrors.DeadlineExceeded)) throw error;
      throw new Unanswered({ place: this.place, fault: `no answer within ${milliseconds} ms` });
    }
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#bad("it is not JSON");
    }
  }

  #bad(fault: string): Error {
    return new BadAnswer({ place: this.place, fault });
  }
}
