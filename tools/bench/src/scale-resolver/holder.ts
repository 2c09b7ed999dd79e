/** Where a pod listens. */
export interface PodAddress {
  readonly address: string;
  readonly port: number;
}

/** What holds the requests of a service while nothing serves it, in a process of its own. */
export interface Holder extends AsyncDisposable {
  readonly pid: number;
  /** Where requests of the service come in. */
  readonly port: number;
  /** Requests that wait. */
  pending(): Promise<number>;
  /** Says that a pod is ready. The answer is the moment at which it was said. */
  release(pod: PodAddress): Promise<number>;
  /** Back to the time before: nothing serves, and what comes is held. */
  rest(): Promise<void>;
}
