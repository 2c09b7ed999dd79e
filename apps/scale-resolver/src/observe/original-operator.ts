import { ForeignLease, type ForeignLeaseOptions } from "@evenkeel/kube";

/** Tells whether KubeElasti's operator runs in this cluster, by the Lease by which it leads. */
export class OriginalOperator {
  readonly #lease: ForeignLease;

  constructor(options: ForeignLeaseOptions) {
    this.#lease = new ForeignLease(options);
  }

  /**
   * Why it must be taken for running, as a sentence's end; undefined if it does not run, or if Leases may not be listed, which the log says once. Looks every ten seconds at most.
   * Rejects while the API server has never answered: to act beside it would be worse than to wait.
   */
  async running(): Promise<string | undefined> {
    const holder = await this.#lease.live();
    return holder === null ? undefined : `KubeElasti's operator is running (${holder} is being renewed): stop it first`;
  }
}
