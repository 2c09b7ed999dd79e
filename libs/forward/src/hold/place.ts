import { Timed } from "../wheel.ts";
import type { Line } from "./line.ts";

/**
 * A place in a line. There is one a held request, so it has no timer, promise or closure of its own; times are whole milliseconds,
 * which the engine keeps inside the object.
 */
export class Place<Held, Upstream extends string | object> extends Timed {
  readonly held: Held;
  readonly bytes: number;
  readonly since: number;
  /** The line that it stands in; undefined once its wait has ended. */
  line: Line<Held, Upstream> | undefined;
  ahead: Place<Held, Upstream> | undefined = undefined;
  behind: Place<Held, Upstream> | undefined = undefined;

  constructor(line: Line<Held, Upstream>, held: Held, bytes: number, since: number) {
    super();
    this.line = line;
    this.held = held;
    this.bytes = bytes;
    this.since = since;
  }

  expire(): void {
    this.line?.expire(this);
  }
}
