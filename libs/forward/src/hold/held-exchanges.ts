import type { Destination, Forward, Origin, Refusal } from "../destination.ts";
import type { Exchange, LeaveListener } from "../exchange.ts";
import { Hold, type HoldOptions } from "./hold.ts";
import type { HoldOutcome, Settlement } from "./outcome.ts";
import type { Place } from "./place.ts";

/** Of an unread body, what the process keeps at most: the buffer of one stream of Node. The rest stays with the client. */
const BODY_BUFFER = 64 * 1024;

/** What an exchange gets that is not released. Its client may be gone, and then nobody reads it. */
export type Unreleased = Exclude<HoldOutcome, "released">;

export interface HeldExchangesOptions extends Pick<HoldOptions<never, Origin>, "clock" | "perKey" | "overall"> {
  /** The answer to a request that was not released: 503 with Retry-After, or whatever a route has for it. */
  readonly refuse: (key: string, outcome: Unreleased) => Refusal;
  /** Hears how every wait ended, and after how many milliseconds. */
  readonly observe?: (key: string, outcome: HoldOutcome, waited: number) => void;
}

export interface HoldRequest {
  readonly key: string;
  /** Milliseconds that the request may wait. */
  readonly wait: number;
  /** What the destination has besides the origin. `settled` is called as ever; the slot is given back before it. */
  readonly forward?: Omit<Forward, "origin">;
}

class HeldExchange implements LeaveListener {
  readonly exchange: Exchange;
  readonly request: HoldRequest;
  destination: Destination | undefined = undefined;
  resolve: ((destination: Destination) => void) | undefined = undefined;
  place: Place<HeldExchange, Origin> | undefined = undefined;
  readonly #leave: (held: HeldExchange) => void;

  constructor(exchange: Exchange, request: HoldRequest, leave: (held: HeldExchange) => void) {
    this.exchange = exchange;
    this.request = request;
    this.#leave = leave;
  }

  left(): void {
    this.#leave(this);
  }
}

/** Holds the requests of a router until their key has an origin. `offer` and `withdraw` of `hold` open and close the way. */
export class HeldExchanges {
  readonly hold: Hold<HeldExchange, Origin>;
  readonly #options: HeldExchangesOptions;

  constructor(options: HeldExchangesOptions) {
    this.#options = options;
    this.hold = new Hold({ ...options, settle: (held, settlement) => this.#settle(held, settlement) });
  }

  /** Where the request goes: at once if there is a slot, or no room; else when its wait ends. For `Router.route` and `Router.retry`. */
  route(exchange: Exchange, request: HoldRequest): Destination | Promise<Destination> {
    const held = new HeldExchange(exchange, request, this.#leave);
    held.place = this.hold.enter(request.key, held, { bytes: heldBytes(exchange), wait: request.wait });
    if (exchange.left) this.#leave(held);
    else if (held.place) exchange.whenLeft = held;
    if (held.destination) return held.destination;
    return new Promise((resolve) => (held.resolve = resolve));
  }

  readonly #leave = (held: HeldExchange) => {
    if (held.place) this.hold.leave(held.place);
  };

  #settle(held: HeldExchange, settlement: Settlement<Origin>): void {
    const { key, forward } = held.request;
    const { refuse, observe } = this.#options;
    if (held.place) held.exchange.whenLeft = undefined;
    observe?.(key, settlement.outcome, settlement.waited);
    if (settlement.outcome === "released") {
      const { slot } = settlement;
      held.destination = {
        ...forward,
        origin: slot.upstream,
        settled: (outcome) => {
          slot.done();
          forward?.settled?.(outcome);
        },
      };
    } else held.destination = { refuse: refuse(key, settlement.outcome) };
    held.resolve?.(held.destination);
  }
}

/** What a held request costs: its head, and of its body as much as a stream buffers. */
export function heldBytes(exchange: Exchange): number {
  let bytes = exchange.path.length + exchange.host.length;
  for (const text of exchange.headers) bytes += text.length;
  if (!exchange.hasBody) return bytes;
  const length = exchange.header("content-length");
  return bytes + (length === undefined ? BODY_BUFFER : Math.min(BODY_BUFFER, Number(length) || 0));
}
