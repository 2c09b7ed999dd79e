import { connect, type Socket } from "node:net";
import { CodedError, toError } from "@evenkeel/runtime";
import type { Destination, Failure, Forward, Outcome } from "../destination.ts";
import type { Engine } from "../engine.ts";
import { NoRoute } from "../errors.ts";
import type { Exchange, LeaveListener } from "../exchange.ts";
import { Timed } from "../wheel.ts";
import { EarlyData } from "./early-data.ts";
import { joinSockets } from "./join-sockets.ts";
import { plainAddress } from "./plain-address.ts";
import { statusOf, verdictOn } from "./verdict.ts";

/**
 * One connection whose bytes are forwarded as they are, from its route to its end. A refusal resets it, because the
 * protocol of the client is unknown.
 */
export class TcpExchange extends Timed implements Exchange {
  readonly method = "TCP";
  readonly path = "";
  readonly host = "";
  readonly headers = [];
  readonly protocol = "tcp";
  readonly scheme = "http";
  readonly upgrade = undefined;
  readonly hasBody = true;
  readonly client = undefined;
  readonly sentBytes = 0;
  readonly remoteAddress: string;
  whenLeft: LeaveListener | undefined = undefined;
  readonly #engine: Engine;
  readonly #socket: Socket;
  readonly #early: EarlyData;
  #phase: "routing" | "connecting" | "tunnel" | "ended" = "routing";
  #forward: Forward | undefined;
  #upstream: Socket | undefined;
  #tries = 0;
  #outcome: Outcome = { status: 0, end: "left" };

  constructor(engine: Engine, socket: Socket) {
    super();
    this.#engine = engine;
    this.#socket = socket;
    this.remoteAddress = plainAddress(socket.remoteAddress);
    engine.inFlight += 1;
    engine.tally.opened("exchange");
    this.#early = new EarlyData(engine, socket, Buffer.alloc(0));
    socket.once("close", this.#closed);
  }

  get listener(): string {
    return this.#engine.listener;
  }

  get left(): boolean {
    return this.#phase === "ended" && this.#outcome.end === "left";
  }

  header(): undefined {
    return undefined;
  }

  get connectionAge(): number {
    return Infinity;
  }

  closeAfter(): void {
    // No message tells a client of an unknown protocol to reconnect.
  }

  unreadAfter(): void {
    // A connection is one exchange, so none follows.
  }

  /** Routes the connection. Called once. */
  begin(): void {
    try {
      this.#await(this.#engine.router.route(this));
    } catch (error) {
      this.#defect(error);
    }
  }

  /** The deadline of a connection to the upstream passed. */
  override expire(): void {
    this.#failed(Object.assign(new Error("the deadline passed"), { code: "ETIMEDOUT" }));
  }

  #await(destination: Destination | Promise<Destination>): void {
    if (!(destination instanceof Promise)) this.#take(destination);
    else
      destination.then(
        (ready) => this.#take(ready),
        (error: unknown) => this.#defect(error),
      );
  }

  #take(destination: Destination): void {
    if (this.#phase !== "routing") {
      this.#settle(destination, { status: 0, end: "left" });
      return;
    }
    if ("refuse" in destination) this.#refuse(destination.refuse.status);
    else if ("answer" in destination) this.#defect(new NoRoute({}));
    else this.#connect(destination);
  }

  #connect(forward: Forward): void {
    const { tally, wheel, deadlines } = this.#engine;
    const { host, port } = forward.origin;
    this.#phase = "connecting";
    this.#forward = forward;
    // Sends nothing, but fails if the client was reset while it was not read: see `EarlyData`. The close event follows.
    this.#socket.write("");
    if (this.#socket.errored) return;
    this.#tries += 1;
    if (this.#tries > 1) tally.retried();
    const upstream = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 });
    this.#upstream = upstream;
    tally.opened("upstream");
    upstream.once("close", () => tally.closed("upstream"));
    upstream.once("error", (error) => this.#failed(error));
    upstream.once("connect", () => this.#join(upstream));
    const limit = forward.deadlines?.connect ?? deadlines.connect;
    if (limit > 0) wheel.set(this, limit);
  }

  #join(upstream: Socket): void {
    const { tally, wheel } = this.#engine;
    wheel.clear(this);
    this.#phase = "tunnel";
    this.#outcome = { status: 0, end: "answered" };
    this.#forward?.answering?.();
    this.#socket.off("close", this.#closed);
    tally.opened("tunnel");
    this.#early.release();
    joinSockets(this.#socket, upstream, () => {
      tally.closed("tunnel");
      this.#ended("tunnel");
    });
  }

  #failed(error: Error): void {
    const forward = this.#forward;
    if (this.#phase !== "connecting" || !forward) return;
    const { wheel, tally, router, limits } = this.#engine;
    wheel.clear(this);
    tally.failed("connect");
    this.#dropUpstream();
    const failure: Failure = {
      ...{ kind: "connect", origin: forward.origin, forward, tries: this.#tries, repeatable: true, error },
    };
    let next: Destination | Promise<Destination> | undefined;
    try {
      if (router.retry) next = router.retry(this, failure);
      else if (failure.tries < limits.tries) next = forward;
    } catch (defect) {
      this.#defect(defect);
      return;
    }
    if (next === undefined) {
      this.#refuse(verdictOn(failure).status, "broken");
      return;
    }
    // Frees the slot of the first destination, unless the same one is retried.
    if (next !== forward) this.#settle(forward, { status: 0, end: "broken" });
    this.#forward = undefined;
    this.#phase = "routing";
    this.#await(next);
  }

  #dropUpstream(): void {
    this.#upstream?.destroy();
    this.#upstream = undefined;
  }

  #defect(error: unknown): void {
    if (this.#phase === "ended") return;
    if (!(error instanceof CodedError)) {
      this.#engine.log.error({ error: toError(error), listener: this.listener }, "a connection could not be routed");
    }
    this.#refuse(error instanceof CodedError ? statusOf(error) : 500);
  }

  #refuse(status: number, end: "refused" | "broken" = "refused"): void {
    this.#outcome = { status, end };
    this.#socket.resetAndDestroy();
    this.#ended(end === "broken" ? "broken" : status < 500 ? "4xx" : "5xx");
  }

  readonly #closed = (): void => this.#ended("left");

  #ended(answer: "tunnel" | "left" | "broken" | "4xx" | "5xx"): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    const { wheel, tally } = this.#engine;
    wheel.clear(this);
    this.#early.release();
    this.#dropUpstream();
    if (answer === "left") this.whenLeft?.left();
    this.#engine.inFlight -= 1;
    tally.closed("exchange");
    tally.ended("tcp", answer);
    this.#settle(this.#forward, this.#outcome);
    this.#engine.settled();
  }

  /** An error of the owner is logged and does not affect the exchange. */
  #settle(destination: Destination | undefined, outcome: Outcome): void {
    if (!destination || !("settled" in destination)) return;
    try {
      destination.settled(outcome);
    } catch (error) {
      this.#engine.log.error({ error: toError(error), listener: this.listener }, "an exchange could not be settled");
    }
  }
}
