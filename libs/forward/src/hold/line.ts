import type { Place } from "./place.ts";
import { Slots } from "./slots.ts";

/** The requests that wait for one key, in the order of their arrival, and the upstreams that take them. */
export class Line<Held, Upstream extends string | object> {
  readonly key: string;
  /** Hears of a place whose wait is over. */
  readonly expire: (place: Place<Held, Upstream>) => void;
  readonly slots = new Slots<Upstream>();
  /** True while it hands out, so that a slot which is given back meanwhile does not start a second handing out within the first. */
  serving = false;
  #first: Place<Held, Upstream> | undefined;
  #last: Place<Held, Upstream> | undefined;
  #length = 0;
  #bytes = 0;

  constructor(key: string, expire: (place: Place<Held, Upstream>) => void) {
    this.key = key;
    this.expire = expire;
  }

  get first(): Place<Held, Upstream> | undefined {
    return this.#first;
  }

  get length(): number {
    return this.#length;
  }

  /** The sum of what its places count. */
  get bytes(): number {
    return this.#bytes;
  }

  push(place: Place<Held, Upstream>): void {
    place.ahead = this.#last;
    if (this.#last) this.#last.behind = place;
    else this.#first = place;
    this.#last = place;
    this.#length += 1;
    this.#bytes += place.bytes;
  }

  /** Puts a place behind all that have waited as long or longer, which are few for one that comes back. */
  insert(place: Place<Held, Upstream>): void {
    let next = this.#first;
    while (next && next.since <= place.since) next = next.behind;
    if (!next) {
      this.push(place);
      return;
    }
    place.behind = next;
    place.ahead = next.ahead;
    if (next.ahead) next.ahead.behind = place;
    else this.#first = place;
    next.ahead = place;
    this.#length += 1;
    this.#bytes += place.bytes;
  }

  /** Takes a place out, wherever it stands. It must stand in this line. */
  remove(place: Place<Held, Upstream>): void {
    if (place.ahead) place.ahead.behind = place.behind;
    else this.#first = place.behind;
    if (place.behind) place.behind.ahead = place.ahead;
    else this.#last = place.ahead;
    place.ahead = place.behind = place.line = undefined;
    this.#length -= 1;
    this.#bytes -= place.bytes;
  }
}
