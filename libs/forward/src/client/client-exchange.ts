import type { Duplex, Readable } from "node:stream";
import { CodedError, toError } from "@evenkeel/runtime";
import type { Answer, Destination, Failure, Forward, Outcome, Refusal } from "../destination.ts";
import type { Engine } from "../engine.ts";
import { BadRequest, BodyTooSlow, NoRoute, NotAnswered, TooSlow } from "../errors.ts";
import type { ClientCertificate, ClientProtocol, LeaveListener } from "../exchange.ts";
import { requestHeaders } from "../headers/request-headers.ts";
import { trailerList } from "../headers/response-headers.ts";
import type { OriginPool } from "../upstream/origin-pool.ts";
import type { Try } from "../upstream/try.ts";
import { ExchangeDeadlines } from "./exchange-deadlines.ts";
import { type Answered, OwnerAnswer } from "./owner-answer.ts";
import { refusalOf, statusOf, verdictOn } from "./verdict.ts";

/** Methods that may be repeated even if the first request may have arrived (RFC 9110, section 9.2.2). */
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** Number of parts of an interval over which the probes of held uploads are spread. */
const PROBE_PARTS = 16;

/**
 * One request from its route to its end. The two subclasses have the differences between HTTP/1.1 and HTTP/2 clients;
 * the tries have the differences between upstreams.
 */
export abstract class ClientExchange extends ExchangeDeadlines implements Answered {
  abstract readonly method: string;
  abstract readonly path: string;
  abstract readonly host: string;
  abstract readonly headers: readonly string[];
  abstract readonly protocol: ClientProtocol;
  abstract readonly scheme: "http" | "https";
  abstract readonly remoteAddress: string;
  abstract readonly client: ClientCertificate | undefined;
  abstract readonly upgrade: string | undefined;
  abstract readonly hasBody: boolean;
  abstract override readonly body: Readable;
  abstract override readonly expectsContinue: boolean;
  abstract readonly bodyLength: number;

  whenLeft: LeaveListener | undefined = undefined;
  #forward: Forward | undefined = undefined;
  #own: Answer | undefined = undefined;
  #try: Try | undefined = undefined;
  #pool: OriginPool | undefined = undefined;
  #tries = 0;
  #status = 0;
  #end: Outcome["end"] = "answered";
  #sentBytes = 0;
  #left = false;
  readonly #arrived: number;

  constructor(engine: Engine) {
    super(engine);
    this.#arrived = engine.clock.monotonic();
    engine.inFlight += 1;
    engine.tally.opened("exchange");
  }

  abstract bodyWhole(): boolean;
  /** The trailers of the request, as received. */
  protected abstract receivedTrailers(): readonly string[];
  abstract interim(status: number, headers: string[]): void;
  abstract get connectionAge(): number;
  abstract closeAfter(): void;
  abstract unreadAfter(): void;
  /** Writes the head of the final answer. */
  protected abstract writeHead(status: number, text: string, headers: string[], complete: boolean): void;
  /** Writes a part of the body. Returns false if the client is slower, until `drained`. */
  protected abstract writeChunk(data: Buffer, sent?: (error?: Error | null) => void): boolean;
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

  protected override get connected(): boolean | undefined {
    return this.#try?.connected;
  }

  get left(): boolean {
    return this.#left;
  }

  get sentBytes(): number {
    return this.#sentBytes;
  }

  header(name: string): string | undefined {
    const { headers } = this;
    for (let index = 0; index < headers.length; index += 2) {
      const own = headers[index] as string;
      if (own.length === name.length && own.toLowerCase() === name) return headers[index + 1];
    }
    return undefined;
  }

  bodyTrailers(): readonly string[] {
    const { strip } = this.engine;
    return strip ? strip.rest(this.receivedTrailers()) : this.receivedTrailers();
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
  refuse(refusal: Refusal): void {
    if (this.phase === "ended" || this.phase === "answering" || this.phase === "tunnel") return;
    const { status, code, headers, body } = this.engine.word(refusal, this);
    this.phase = "answering";
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
    this.armClient();
  }

  refuseWith(status: number, error: CodedError, headers: readonly string[] = []): void {
    this.refuse({ ...refusalOf(status, error), headers });
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
    if (this.phase !== "routing") {
      this.#settle(destination, { status: 0, end: "left" });
      return;
    }
    this.engine.wheel.clear(this);
    if ("refuse" in destination) {
      this.refuse(destination.refuse);
      return;
    }
    if (this.routed === 0) this.routed = now;
    this.phase = "trying";
    this.tried = now;
    if ("answer" in destination) {
      this.limitBy(destination.deadlines, true);
      this.#own = destination;
      this.#answerHere(destination);
    } else {
      this.limitBy(destination.deadlines, false);
      this.#forward = destination;
      this.#ask(destination);
    }
  }

  #answerHere(own: Answer): void {
    const started = new OwnerAnswer(this);
    this.#try = started;
    this.arm(this.tried);
    started.start(own);
  }

  #ask(forward: Forward): void {
    this.#tries += 1;
    if (this.#tries > 1) this.engine.tally.retried();
    try {
      const { list, host } = requestHeaders(this, forward, this.engine.proxy, this.engine.strip);
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
    this.arm(this.tried);
  }

  /** The try has ended. */
  #leavePool(now = this.engine.clock.monotonic()): void {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#try = undefined;
    pool?.leave(now);
  }

  #defect(error: unknown): void {
    if (this.phase === "ended" || this.#left) return;
    if (error instanceof CodedError) {
      this.refuseWith(statusOf(error), error);
      return;
    }
    const what = this.#own ? "answered" : "routed";
    this.engine.log.error({ error: toError(error), listener: this.listener }, `a request could not be ${what}`);
    this.refuseWith(500, this.#own ? new NotAnswered({}) : new NoRoute({}));
  }

  override expire(): void {
    if (this.phase === "routing") {
      if (this.probe()) this.engine.wheel.set(this, this.engine.limits.probe);
      return;
    }
    if (this.phase !== "trying" && this.phase !== "answering") return;
    const now = this.engine.clock.monotonic();
    const passed = this.passed(now);
    if (passed === "client") {
      // The client reads nothing, so its connection is closed.
      this.cut(undefined);
      return;
    }
    if (passed === "late" || passed === "connect") {
      const connected = this.#try?.connected === true;
      this.#try?.abort();
      const error = Object.assign(new Error("the deadline passed"), { code: "ETIMEDOUT" });
      this.failed(passed === "late" ? "deadline" : "connect", error, connected);
      return;
    }
    if (passed === "expect") {
      this.continued();
      this.#try?.sendBody();
    }
    this.arm(now);
  }

  bodyTaken(): void {
    const first = !this.bodyIsTaken;
    this.bodyIsTaken = true;
    // While the client is still sending, the upstream is not late.
    this.tried = this.moved = this.engine.clock.monotonic();
    if (first) this.armBody();
  }

  continued(): void {
    if (!this.expectsContinue || this.continueSent || this.phase !== "trying") return;
    this.continueSent = true;
    this.interim(100, []);
  }

  answer(status: number, text: string, headers: string[], complete: boolean): void {
    if (this.phase !== "trying") return;
    this.phase = "answering";
    this.#status = status;
    this.#forward?.answering?.();
    if ((this.expectsContinue && !this.continueSent) || this.engine.draining) this.closeAfter();
    const more = this.#forward?.answerHeaders;
    if (more) headers.push(...more);
    this.armAnswer();
    this.writeHead(status, text, headers, complete);
  }

  chunk(data: Buffer, sent?: (error?: Error | null) => void): boolean {
    this.moved = this.engine.clock.monotonic();
    this.#sentBytes += data.length;
    this.taken = this.writeChunk(data, sent);
    return this.taken;
  }

  complete(trailers: readonly string[] | undefined): void {
    if (this.phase !== "answering") return;
    this.#leavePool();
    this.armClient();
    this.writeEnd(trailers === undefined ? undefined : trailerList(trailers));
  }

  upgraded(status: number, text: string, headers: readonly string[], socket: Duplex, head: Buffer): void {
    if (this.phase !== "trying") {
      socket.destroy();
      return;
    }
    this.phase = "tunnel";
    this.#status = status;
    this.#forward?.answering?.();
    this.#try = undefined;
    this.engine.wheel.clear(this);
    this.tunnel(status, text, headers, socket, head);
  }

  unsendable(error: Error): void {
    if (this.phase !== "trying") return;
    this.#leavePool();
    this.engine.tally.malformed();
    this.refuseWith(400, new BadRequest({ fault: error.message }));
  }

  failed(kind: Failure["kind"], error: Error, sent: boolean, code?: number): void {
    if (this.phase !== "trying" && this.phase !== "answering") return;
    const forward = this.#forward;
    this.#leavePool();
    this.engine.wheel.clear(this);
    this.engine.tally.failed(kind);
    if (this.phase === "answering") {
      this.#end = "broken";
      this.cut(code);
      return;
    }
    if (!forward) {
      const unread = this.bodyIsTaken && !this.body.readableEnded;
      this.#defect(unread ? new BodyTooSlow({}) : new TooSlow({ origin: this.engine.proxy }));
      return;
    }
    const repeatable = !this.bodyIsTaken && (!sent || (kind === "reset" && idempotent.has(this.method)));
    const failure = { kind, origin: forward.origin, forward, tries: this.#tries, repeatable, error };
    if (repeatable && this.#again(failure)) return;
    const verdict = verdictOn(failure);
    this.refuseWith(verdict.status, verdict.error);
  }

  unanswered(error: unknown): void {
    if (this.phase !== "trying" && this.phase !== "answering") return;
    this.#leavePool();
    this.engine.wheel.clear(this);
    if (this.phase === "trying") {
      this.#defect(error);
      return;
    }
    this.engine.log.error({ error: toError(error), listener: this.listener }, "an answer broke off");
    this.#end = "broken";
    this.cut(undefined);
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
    // Frees the slot of the first destination, unless the same one is retried.
    if (before !== next) this.#settle(before, { status: 0, end: "broken" });
    this.#forward = undefined;
    this.phase = "routing";
    if (next instanceof Promise) this.#hold(next);
    else this.#take(next, this.engine.clock.monotonic());
    return true;
  }

  /** The client can receive more of the response. */
  drained(): void {
    this.moved = this.engine.clock.monotonic();
    this.taken = true;
    this.#try?.resume();
  }

  /** The client's side has ended: everything was sent if `whole`, else the client disconnected. Called last. */
  protected ended(whole: boolean): void {
    if (this.phase === "ended") return;
    const tunnelled = this.phase === "tunnel";
    this.phase = "ended";
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
    this.#settle(this.#forward ?? this.#own, { status: this.#status, end: this.#end });
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
