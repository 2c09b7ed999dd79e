import { type Account, account, disruptionAccounts } from "./disruption-budgets.ts";
import { type Hold, hold } from "./obstacles.ts";
import type { PlanSnapshot } from "./snapshot.ts";

/**
 * Limits that each eviction of a plan uses up: PodDisruptionBudgets, the hour of WorkloadSLOs, namespaces, the minute, and one
 * eviction at a time for each owner and node. What an earlier plan spent is counted from the start.
 */
export class Budgets {
  readonly #snapshot: PlanSnapshot;
  readonly #ofShape: readonly (readonly Account[])[];
  readonly #ofAll: readonly Account[];
  readonly #owners = new Map<number, Account>();
  readonly #nodes = new Map<number, Account>();
  /** Owners' workloads and nodes that must be left alone, as `uid node`. */
  readonly #backOffs: ReadonlySet<string>;

  constructor(snapshot: PlanSnapshot) {
    const { memory, policy, at } = snapshot;
    this.#snapshot = snapshot;
    this.#ofShape = accountsOfShapes(snapshot);
    this.#ofAll =
      memory === null ? [] : [account("MinuteLimit", null, policy.spec.maxEvictionsPerMinute - memory.lastMinute)];
    this.#backOffs = new Set(
      memory?.backOffs.filter(({ until }) => until > at).map(({ owner, node }) => `${owner} ${node}`),
    );
    this.#countInFlight();
  }

  /** What holds a pod now. */
  holds(pod: number): readonly Hold[] {
    const holds: Hold[] = [];
    if (this.#isBackedOff(pod)) holds.push(hold("BackOff"));
    this.#eachAccount(pod, ({ hold, left }) => {
      if (left <= 0) holds.push(hold);
    });
    return holds;
  }

  spend(pod: number): void {
    this.#eachAccount(pod, (account) => (account.left -= 1));
  }

  refund(pod: number): void {
    this.#eachAccount(pod, (account) => (account.left += 1));
  }

  /** The limits that an eviction of the pod counts in. */
  limits(pod: number): readonly Hold[] {
    const limits: Hold[] = [];
    this.#eachAccount(pod, ({ hold }) => limits.push(hold));
    return limits;
  }

  #isBackedOff(pod: number): boolean {
    if (this.#backOffs.size === 0) return false;
    const { pods, owners, nodes } = this.#snapshot.cluster;
    const workload = owners[pods.owner[pod] as number]?.workload.uid;
    return this.#backOffs.has(`${workload} ${nodes[pods.node[pod] as number]?.name}`);
  }

  #eachAccount(pod: number, visit: (account: Account) => void): void {
    const { cluster, memory } = this.#snapshot;
    const { pods } = cluster;
    for (const account of this.#ofAll) visit(account);
    for (const account of this.#ofShape[pods.shape[pod] as number] ?? []) visit(account);
    if (memory === null) return;
    visit(one(this.#owners, pods.owner[pod] as number, "OwnerInFlight"));
    visit(one(this.#nodes, pods.node[pod] as number, "NodeInFlight"));
  }

  #countInFlight(): void {
    const { cluster, memory } = this.#snapshot;
    if (memory === null) return;
    const ownerOf = new Map(cluster.owners.map(({ uid }, index) => [uid, index]));
    const nodeOf = new Map(cluster.nodes.map(({ name }, index) => [name, index]));
    for (const { owner, from } of memory.inFlight) {
      const [ownerIndex, nodeIndex] = [ownerOf.get(owner), nodeOf.get(from)];
      if (ownerIndex !== undefined) one(this.#owners, ownerIndex, "OwnerInFlight").left -= 1;
      if (nodeIndex !== undefined) one(this.#nodes, nodeIndex, "NodeInFlight").left -= 1;
    }
  }
}

/** The account of an owner or node, which has one eviction at a time. */
function one(accounts: Map<number, Account>, index: number, code: "OwnerInFlight" | "NodeInFlight"): Account {
  const known = accounts.get(index);
  if (known !== undefined) return known;
  const made = account(code, null, 1);
  accounts.set(index, made);
  return made;
}

function accountsOfShapes({ cluster, policy, memory }: PlanSnapshot): readonly (readonly Account[])[] {
  const disruption = disruptionAccounts(cluster.disruptionBudgets, policy.spec.respectPDB);
  const hours = Map.groupBy(
    cluster.slos.flatMap(({ namespace, name, spec: { maxDisruptionsPerHour: limit } }) => {
      const id = `${namespace}/${name}`;
      if (limit === undefined) return [];
      return [{ namespace, account: account("HourlyLimit", id, limit - (memory?.lastHour[id] ?? 0)) }];
    }),
    ({ namespace }) => namespace,
  );
  const namespaces = new Map<string, Account>();
  const limit = policy.spec.maxEvictionsPerNamespace;
  return cluster.shapes.map(({ namespace, labels }) => {
    const accounts = [...disruption(namespace, labels), ...(hours.get(namespace) ?? []).map(({ account }) => account)];
    if (limit === undefined) return accounts;
    const own = namespaces.get(namespace) ?? account("NamespaceLimit", namespace, limit);
    namespaces.set(namespace, own);
    return [...accounts, own];
  });
}
