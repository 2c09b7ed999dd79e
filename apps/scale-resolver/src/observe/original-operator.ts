import { ForeignLease, type ForeignLeaseOptions } from "@evenkeel/kube";

/** Detects whether KubeElasti's operator runs in this cluster, by its leader election Lease. */
export class OriginalOperator {
  readonly #lease: ForeignLease;

  constructor(options: ForeignLeaseOptions) {
    this.#lease = new ForeignLease(options);
  }

  /**
   * Why the operator counts as running, as the end of a sentence. Undefined if it does not run, or if Leases may not be
   * listed, which is logged once. Reads every ten seconds at most. Rejects while the API server has never answered: to
   * act at the same time as the operator is worse than to wait.
   */
  async running(): Promise<string | undefined> {
    const holder = await this.#lease.live();
    return holder === null ? undefined : `KubeElasti's operator is running (${holder} is being renewed): stop it first`;
  }
}
