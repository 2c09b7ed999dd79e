/** A request as an upstream understood it. Headers are pairs with names in lower case, sorted. */
export interface Seen {
  /** What the forwarder gave it; empty for a request that the forwarder does not know of. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: number;
  readonly digest: string;
  /** Whether its body came to its end. */
  readonly complete: boolean;
}

/** A request as the forwarder understood it and sent it on. */
export interface Forwarded {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly host: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

export interface Upstream {
  readonly port: number;
  /** What came since the last question. */
  taken(): Promise<Seen[]>;
  stop(): void;
}
