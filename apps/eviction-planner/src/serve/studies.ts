import { parseRebalancePolicy, type RebalancePolicySpec } from "@evenkeel/api";
import { rpcErrors } from "@evenkeel/rpc";
import type { Asked, Planning, Recall, Studied } from "../observe/planning.ts";
import type { StoredPolicy } from "../policy-resource.ts";

/** Readers whose questions wait while another one is answered. */
const MOST_WAITING = 4;

/**
 * Answers questions that need a plan of their own, one at a time: each takes a thread and seconds in a large cluster.
 */
export class Studies {
  readonly #planning: Pick<Planning, "study">;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(planning: Pick<Planning, "study">) {
    this.#planning = planning;
  }

  async study(
    policy: { readonly name: string; readonly spec: RebalancePolicySpec },
    recall: Recall,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<Studied> {
    if (this.#waiting > MOST_WAITING) throw new rpcErrors.TooBusy({ limit: MOST_WAITING, what: "questions" });
    this.#waiting += 1;
    const work = async (): Promise<Studied> => {
      signal.throwIfAborted();
      return this.#planning.study(policy, recall, asked, signal);
    };
    const answered = this.#last.then(work, work);
    this.#last = answered.catch(() => undefined);
    try {
      return await answered;
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** The policy with its defaults. Throws EK_RPC_BAD_REQUEST if its spec cannot be read. */
export function readablePolicy(method: string, object: StoredPolicy): { name: string; spec: RebalancePolicySpec } {
  const parsed = parseRebalancePolicy(object);
  if (!parsed.ok) throw new rpcErrors.BadRequest({ method, fault: parsed.errors.join("; ") });
  return { name: object.metadata.name ?? "", spec: parsed.value.spec };
}
