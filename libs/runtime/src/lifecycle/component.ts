/** What a component may use while it runs. */
export interface Running {
  /** Aborts when the process begins to stop. */
  readonly signal: AbortSignal;
  /** Reports that the component cannot go on. The process stops in order and exits 1. */
  readonly fail: (cause: unknown) => void;
}

/** Something with a life of its own: a connection, a cache, a server, a loop. */
export interface Component {
  readonly name: string;
  /** Resolves once the component does its work; the next one starts only then. Rejecting ends the process. */
  start?(running: Running): Promise<void> | void;
  /**
   * Resolves once nothing of it runs any more; also called after a start that failed or was cut short. `deadline`
   * aborts when it must give up what it still waits for.
   */
  stop?(deadline: AbortSignal): Promise<void> | void;
  /** Why the process should get no traffic now; nothing if it should. */
  unready?(): string | undefined;
}

/** A component that takes requests from outside. */
export interface Server extends Component {
  /** Where it listens, once started. */
  readonly port: number;
  /**
   * Takes no new requests and resolves when those in flight have ended. When `deadline` aborts it cuts the rest and
   * resolves with how many those were.
   */
  drain(deadline: AbortSignal): Promise<number>;
}
