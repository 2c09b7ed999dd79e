import { apply, kubectl } from "@evenkeel/e2e";
import type { Cluster } from "./site.ts";

/** The name by which the original leads. */
export const ORIGINAL_LEASE = "e7eaa5de.ch1aki.github.io";

const HOLDER = "rebalancer-0_1";

const now = () => new Date().toISOString().replace("Z", "000Z");

/** Holds the original's Lease and renews it each second, as the original does every few, until it is disposed of. */
export class OriginalLeader implements AsyncDisposable {
  /** Who holds the Lease, as the original's library names a process. */
  readonly holder = HOLDER;
  readonly #cluster: Cluster;
  readonly #namespace: string;
  #held = true;
  #renewing: Promise<void>;

  private constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#renewing = this.#renew();
  }

  static async start(cluster: Cluster, namespace: string): Promise<OriginalLeader> {
    await apply(cluster, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: ORIGINAL_LEASE, namespace },
      spec: { holderIdentity: HOLDER, leaseDurationSeconds: 5, acquireTime: now(), renewTime: now() },
    });
    return new OriginalLeader(cluster, namespace);
  }

  /** Dies: the Lease stays as it is and is not renewed any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#held = false;
    await this.#renewing;
  }

  async #renew(): Promise<void> {
    while (this.#held) {
      const patch = JSON.stringify({ spec: { renewTime: now() } });
      await kubectl(this.#cluster, [
        "patch",
        "lease",
        ORIGINAL_LEASE,
        "-n",
        this.#namespace,
        "--type=merge",
        "-p",
        patch,
      ]);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
