import { Forwarder, type ForwarderOptions } from "@evenkeel/forward";

/** The gate's forwarder, which reports when it stops. */
export class GateForwarder extends Forwarder {
  readonly #stopped: () => void;
  #draining = false;

  constructor(options: ForwarderOptions, stopped: () => void) {
    super(options);
    this.#stopped = stopped;
  }

  /**
   * While draining, no port is opened. Waiting requests keep waiting, and are forwarded if a pod is ready before the
   * deadline.
   */
  isDraining(): boolean {
    return this.#draining;
  }

  override drain(deadline: AbortSignal): Promise<number> {
    this.#draining = true;
    return super.drain(deadline);
  }

  override async stop(deadline: AbortSignal): Promise<void> {
    this.#draining = true;
    await super.stop(deadline);
    this.#stopped();
  }
}
