import type { Duplex, Readable } from "node:stream";
import { CodedError, isRetryable, toError } from "@evenkeel/runtime";
import type { Destination, Failure, Forward, Outcome, Refusal } from "../destination.ts";
import type { Engine } from "../engine.ts";
import { BadRequest, NoRoute } from "../errors.ts";
import type { ClientProtocol, LeaveListener } from "../exchange.ts";
import type { Deadlines } from "../limits.ts";
import { requestHeaders } from "../headers/request-headers.ts";
import { trailerList } from "../headers/response-headers.ts";
import type { OriginPool } from "../upstream/origin-pool.ts";
import type { Asker, Try } from "../upstream/try.ts";
import { Timed } from "../wheel.ts";
import { verdictOn } from "./verdict.ts";

/** Methods that may be repeated even if the first request may have arrived (RFC 9110, section 9.2.2). */
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** Number of parts of an interval over which the probes of held uploads are spread. */
const PROBE_PARTS = 16;

type Phase = "routing" | "trying" | "answering" | "tunnel" | "ended";

/**
 * One request from its route to its end. The two subclasses have the differences between HTTP/1.1 and HTTP/2 clients;
 * the tries have the differences between upstreams.
 */
export abstract class ClientExchange extends Timed implements Asker {
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly host: string;
  abstract readonly headers: readonly string[];
  abstract readonly protocol: ClientProtocol;
  abstract readonly scheme: "http" | "https";
  abstract readonly remoteAddress: string;
  abstract readonly upgrade: string | undefined;
  abstract readonly hasBody: boolean;
  abstract readonly body: Readable;
  abstract readonly expectsContinue: boolean;
  abstract readonly bodyLength: number;

  whenLeft: LeaveListener | undefined = undefined;
  protected readonly engine: Engine;
  protected continueSent = false;
  #phase: Phase = "routing";
  #forward: Forward | undefined = undefined;
  #try: Try | undefined = undefined;
  #pool: OriginPool | undefined = undefined;
  #tries = 0;
  #bodyTaken = false;
  #status = 0;
  #end: Outcome["end"] = "answered";
  #left = false;
  readonly #arrived: number;
  #routed = 0;
  #tried = 0;
  /** When the last part of the response moved, or its head arrived. */
  #moved = 0;
  /** Whether the client has read everything that was written so far. */
  #taken = true;

  constructor(engine: Engine) {
    super();
    this.engine = engine;
    this.#arrived = engine.clock.monotonic();
    engine.inFlight += 1;
    engine.tally.opened("exchange");
  }

  abstract bodyWhole(): boolean;
  abstract bodyTrailers(): readonly string[];
  abstract interim(status: number, headers: string[]): void;
  abstract closeAfter(): void;
  abstract unreadAfter(): void;
  /** Writes the head of the final answer. */
  protected abstract writeHead(status: number, text: string, headers: string[], complete: boolean): void;
  /** Writes a part of the body. Returns false if the client is slower, until `drained`. */
  protected abstract writeChunk(data: Buffer): boolean;
  protected abstract writeEnd(trailers: readonly string[] | undefined): void;
  /** Writes a whole response of this process. */
  protected abstract writeWhole(status: number, headers: string[], body: string): void;
  /** Ends the client's connection or stream, so that the client does not treat a partial response as complete. */
  protected abstract cut(code: number | undefined): void;
  /** Detects by a harmless write whether the client is still connected. Returns false if that is not possible. */
  protected abstract probe(): boolean;
  protected abstract tunnel(
    status: number,
    text: string,
    headers: readonly string[],
    socket: Duplex,
    head: Buffer,
  ): void;

  get listener(): string {
    return this.engine.listener;
  }

  get left(): boolean {
    return this.#left;
  }

  header(name: string): string | undefined {
    const { headers } = this;
    for (let index = 0; index < headers.length; index += 2) {
      const own = headers[index] as string;
      if (own.length === name.length && own.toLowerCase() === name) return headers[index + 1];
    }
    return undefined;
  }

  /** Routes the request. Called once. */
  begin(): void {
    let destination: Destination | Promise<Destination>;
    try {
      destination = this.engine.router.route(this);
    } catch (error) {
      this.#defect(error);
      return;
    }
    if (destination instanceof Promise) this.#hold(destination);
    else this.#take(destination, this.#arrived);
  }

  /** Responds without an upstream. */
  refuse({ status, code, headers, body }: Refusal): void {
    if (this.#phase === "ended" || this.#phase === "answering" || this.#phase === "tunnel") return;
    this.#phase = "answering";
    this.#status = status;
    this.#end = "refused";
    this.engine.wheel.clear(this);
    if (this.engine.draining) this.closeAfter();
    const list = [...(headers ?? [])];
    if (code !== undefined) list.push("evenkeel-error", code);
    try {
      this.writeWhole(status, list, body ?? "");
    } catch (error) {
      // The router set headers that cannot be written.
      this.engine.log.error({ error: toError(error), listener: this.listener }, "a refusal could not be written");
      this.cut(undefined);
    }
    this.#waitForClient();
  }

  refuseWith(status: number, error: CodedError, headers: readonly string[] = []): void {
    this.refuse({ status, code: error.code, headers, body: `${error.code}: ${error.message}\n` });
  }

  #hold(promised: Promise<Destination>): void {
    const { limits, wheel, inFlight } = this.engine;
    // Spread, so that a burst of uploads does not cause bursts of probes.
    if (this.hasBody && limits.probe > 0)
      wheel.set(this, (limits.probe * (1 + (inFlight % PROBE_PARTS))) / PROBE_PARTS);
    promised.then(
      (destination) => this.#take(destination, this.engine.clock.monotonic()),
      (error: unknown) => this.#defect(error),
    );
  }

  #take(destination: Destination, now: number): void {
    if (this.#phase !== "routing") {
      this.#settle(destination, { status: 0, end: "left" });
      return;
    }
    this.engine.wheel.clear(this);
    if ("refuse" in destination) {
      this.refuse(destination.refuse);
      return;
    }
    this.#forward = destination;
    this.#ask(destination, now);
  }

  #ask(forward: Forward, now: number): void {
    if (this.#routed === 0) this.#routed = now;
    this.#phase = "trying";
    this.#tries += 1;
    if (this.#tries > 1) this.engine.tally.retried();
    this.#tried = now;
    try {
      const { list, host } = requestHeaders(this, forward, this.engine.proxy);
      const ask = { asker: this, forward, path: forward.path ?? this.path, host, headers: list };
      const pool = this.engine.origins.pool(forward.origin);
      pool.enter();
      this.#pool = pool;
      const started = pool.start(ask);
      // It may have failed synchronously.
      if (this.#pool !== pool) return;
      this.#try = started;
    } catch (error) {
      this.#leavePool();
      this.#defect(error);
      return;
    }
    this.#arm(this.#tried);
  }

  /** The try has ended. */
  #leavePool(now = this.engine.clock.monotonic()): void {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#try = undefined;
    pool?.leave(now);
  }

  #defect(error: unknown): void {
    if (this.#phase === "ended" || this.#left) return;
    if (error instanceof CodedError) {
      this.refuseWith(isRetryable(error) ? 503 : 500, error);
      return;
    }
    this.engine.log.error({ error: toError(error), listener: this.listener }, "a request could not be routed");
    this.refuseWith(500, new NoRoute({}));
  }

  /** When the deadline `name` passes, counted from `since`. */
  #due(name: keyof Deadlines, since: number): number {
    const deadline = this.#forward?.deadlines?.[name] ?? this.engine.deadlines[name] ?? 0;
    return deadline > 0 ? since + deadline : Infinity;
  }

  get #withheld(): boolean {
    return this.expectsContinue && !this.continueSent;
  }

  /** Sets the timer to the next deadline of the phase. */
  #arm(now: number): void {
    let due = this.#due("total", this.#routed);
    if (this.#phase === "trying") {
      due = Math.min(due, this.#due("response", this.#tried));
      if (this.#try?.connected !== true) due = Math.min(due, this.#due("connect", this.#tried));
      if (this.#withheld) due = Math.min(due, this.#due("expect", this.#tried));
    }
    due = Math.min(due, this.#idleDue());
    if (due === Infinity) this.engine.wheel.clear(this);
    else this.engine.wheel.set(this, due - now);
  }

  /** Whether the idle time is limited. */
  get #idleLimited(): boolean {
    return this.#due("idle", 0) < Infinity;
  }

  /** When the idle limit passes. Before the head of the response, only a body that is being sent can be idle. */
  #idleDue(): number {
    if (this.#phase === "answering") return this.#due("idle", this.#moved);
    return this.#bodyTaken && !this.body.readableEnded ? this.#due("idle", this.#tried) : Infinity;
  }

  /** The whole response is written. Only the client can delay its end. */
  #waitForClient(): void {
    if (this.#phase !== "answering") return;
    if (this.#idleLimited) this.engine.wheel.set(this, this.#due("idle", 0));
    else this.engine.wheel.clear(this);
  }

  override expire(): void {
    if (this.#phase === "routing") {
      if (this.probe()) this.engine.wheel.set(this, this.engine.limits.probe);
      return;
    }
    if (this.#phase !== "trying" && this.#phase !== "answering") return;
    const now = this.engine.clock.monotonic();
    if (this.#phase === "answering" && (!this.#try || (!this.#taken && now >= this.#idleDue()))) {
      // The client reads nothing, so its connection is closed.
      this.cut(undefined);
      return;
    }
    const connected = this.#try?.connected === true;
    const tried = this.#tried;
    const trying = this.#phase === "trying";
    const late =
      now >= this.#due("total", this.#routed) ||
      (trying && now >= this.#due("response", tried)) ||
      now >= this.#idleDue();
    if (late || (trying && !connected && now >= this.#due("connect", tried))) {
      this.#try?.abort();
      const error = Object.assign(new Error("the deadline passed"), { code: "ETIMEDOUT" });
      this.failed(late ? "deadline" : "connect", error, connected);
      return;
    }
    if (trying && connected && this.#withheld && now >= this.#due("expect", tried)) {
      this.continued();
      this.#try?.sendBody();
    }
    this.#arm(now);
  }

  bodyTaken(): void {
    const first = !this.#bodyTaken;
    this.#bodyTaken = true;
    // While the client is still sending, the upstream is not late.
    this.#tried = this.#moved = this.engine.clock.monotonic();
    if (first && this.#idleLimited) this.#arm(this.#tried);
  }

  continued(): void {
    if (!this.expectsContinue || this.continueSent || this.#phase !== "trying") return;
    this.continueSent = true;
    this.interim(100, []);
  }

  answer(status: number, text: string, headers: string[], complete: boolean): void {
    if (this.#phase !== "trying") return;
    this.#phase = "answering";
    this.#status = status;
    this.#forward?.answering?.();
    if (this.#withheld || this.engine.draining) this.closeAfter();
    const more = this.#forward?.answerHeaders;
    if (more) headers.push(...more);
    // The timer is only set again if it would expire too late. When it expires, the current deadline is computed.
    if (this.#idleLimited) {
      this.#moved = this.engine.clock.monotonic();
      this.#arm(this.#moved);
    }
    this.writeHead(status, text, headers, complete);
  }

  chunk(data: Buffer): boolean {
    this.#moved = this.engine.clock.monotonic();
    this.#taken = this.writeChunk(data);
    return this.#taken;
  }

  complete(trailers: readonly string[] | undefined): void {
    if (this.#phase !== "answering") return;
    this.#leavePool();
    this.#waitForClient();
    this.writeEnd(trailers === undefined ? undefined : trailerList(trailers));
  }

  upgraded(status: number, text: string, headers: readonly string[], socket: Duplex, head: Buffer): void {
    if (this.#phase !== "trying") {
      socket.destroy();
      return;
    }
    this.#phase = "tunnel";
    this.#status = status;
    this.#forward?.answering?.();
    this.#try = undefined;
    this.engine.wheel.clear(this);
    this.tunnel(status, text, headers, socket, head);
  }

  unsendable(error: Error): void {
    if (this.#phase !== "trying") return;
    this.#leavePool();
    this.engine.tally.malformed();
    this.refuseWith(400, new BadRequest({ fault: error.message }));
  }

  failed(kind: Failure["kind"], error: Error, sent: boolean, code?: number): void {
    if (this.#phase !== "trying" && this.#phase !== "answering") return;
    const forward = this.#forward as Forward;
    this.#leavePool();
    this.engine.wheel.clear(this);
    this.engine.tally.failed(kind);
    if (this.#phase === "answering") {
      this.#end = "broken";
      this.cut(code);
      return;
    }
    const repeatable = !this.#bodyTaken && (!sent || (kind === "reset" && idempotent.has(this.method)));
    const failure = { kind, origin: forward.origin, forward, tries: this.#tries, repeatable, error };
    if (repeatable && this.#again(failure)) return;
    const verdict = verdictOn(failure);
    this.refuseWith(verdict.status, verdict.error);
  }

  /** Returns true if there is another try. */
  #again(failure: Failure): boolean {
    const { router, limits } = this.engine;
    let next: Destination | Promise<Destination> | undefined;
    if (router.retry) {
      try {
        next = router.retry(this, failure);
      } catch (error) {
        this.#defect(error);
        return true;
      }
    } else if (failure.tries < limits.tries) next = this.#forward;
    if (next === undefined) return false;
    const before = this.#forward;
    // Frees the slot of the first destination, unless the same one is tried again.
    if (before !== next) this.#settle(before, { status: 0, end: "broken" });
    this.#forward = undefined;
    this.#phase = "routing";
    if (next instanceof Promise) this.#hold(next);
    else this.#take(next, this.engine.clock.monotonic());
    return true;
  }

  /** The client can receive more of the response. */
  drained(): void {
    this.#moved = this.engine.clock.monotonic();
    this.#taken = true;
    this.#try?.resume();
  }

  /** The client's side has ended: everything was sent if `whole`, else the client disconnected. Called last. */
  protected ended(whole: boolean): void {
    if (this.#phase === "ended") return;
    const tunnelled = this.#phase === "tunnel";
    this.#phase = "ended";
    const { wheel, tally, clock } = this.engine;
    wheel.clear(this);
    const running = this.#try;
    this.#leavePool();
    if (!whole && this.#end !== "broken" && !tunnelled) {
      this.#left = true;
      this.#end = "left";
      this.whenLeft?.left();
    }
    running?.abort();
    this.engine.inFlight -= 1;
    tally.closed("exchange");
    const protocol = this.protocol === "http/1.1" || this.protocol === "http/1.0" ? "http1" : "h2";
    if (tunnelled) tally.ended(protocol, "tunnel");
    else {
      tally.ended(protocol, this.#end === "left" || this.#end === "broken" ? this.#end : classOf(this.#status));
      tally.took(protocol, clock.monotonic() - this.#arrived);
    }
    this.#settle(this.#forward, { status: this.#status, end: this.#end });
    this.engine.settled();
  }

  /** An error of the owner is logged and does not affect the exchange. */
  #settle(destination: Destination | undefined, outcome: Outcome): void {
    if (!destination || !("settled" in destination)) return;
    try {
      destination.settled(outcome);
    } catch (error) {
      this.engine.log.error({ error: toError(error), listener: this.listener }, "an exchange could not be settled");
    }
  }
}

function classOf(status: number): "2xx" | "3xx" | "4xx" | "5xx" {
  return status < 300 ? "2xx" : status < 400 ? "3xx" : status < 500 ? "4xx" : "5xx";
}
