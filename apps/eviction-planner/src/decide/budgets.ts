import { matcherOf } from "@evenkeel/placement";
import { type Hold, hold } from "./obstacles.ts";
import type { DisruptionBudgetRow, PlanSnapshot } from "./snapshot.ts";

/** A limit on evictions that several pods share. */
interface Account {
  readonly hold: Hold;
  left: number;
}

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
  *holds(pod: number): Generator<Hold, undefined> {
    const { pods, owners, nodes } = this.#snapshot.cluster;
    const owner = owners[pods.owner[pod] as number];
    const node = nodes[pods.node[pod] as number];
    if (this.#backOffs.has(`${owner?.workload.uid} ${node?.name}`)) yield hold("BackOff");
    for (const { hold, left } of this.#accounts(pod)) if (left <= 0) yield hold;
  }

  spend(pod: number): void {
    for (const account of this.#accounts(pod)) account.left -= 1;
  }

  giveBack(pod: number): void {
    for (const account of this.#accounts(pod)) account.left += 1;
  }

  /** The limits that an eviction of the pod counts in. */
  *limits(pod: number): Generator<Hold, undefined> {
    for (const { hold } of this.#accounts(pod)) yield hold;
  }

  *#accounts(pod: number): Generator<Account, undefined> {
    const { cluster, memory } = this.#snapshot;
    const { pods } = cluster;
    yield* this.#ofAll;
    yield* this.#ofShape[pods.shape[pod] as number] ?? [];
    if (memory === null) return;
    yield one(this.#owners, pods.owner[pod] as number, "OwnerInFlight");
    yield one(this.#nodes, pods.node[pod] as number, "NodeInFlight");
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

function account(code: Hold["code"], by: string | null, left: number): Account {
  return { hold: hold(code, by), left };
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

/**
 * The accounts of the PodDisruptionBudgets that match some labels. Pods that are not ready have rules of their own there; they
 * are never moved, so these rules do not matter here.
 */
function disruptionAccounts(
  budgets: readonly DisruptionBudgetRow[],
  respectsAllowance: boolean,
): (namespace: string, labels: Readonly<Record<string, string>>) => readonly Account[] {
  const rows = budgets.map((budget) => {
    const id = `${budget.namespace}/${budget.name}`;
    const code = budget.isCurrent ? "DisruptionBudget" : "DisruptionBudgetStale";
    const left = respectsAllowance ? (budget.isCurrent ? budget.disruptionsAllowed : 0) : Infinity;
    return { namespace: budget.namespace, id, matches: matcherOf(budget.selector), account: account(code, id, left) };
  });
  const byNamespace = Map.groupBy(rows, ({ namespace }) => namespace);
  return (namespace, labels) => {
    const matching = (byNamespace.get(namespace) ?? []).filter(({ matches }) => matches(labels));
    if (matching.length < 2) return matching.map(({ account }) => account);
    const names = matching.map(({ id }) => id).sort();
    return [account("SeveralDisruptionBudgets", names.join(", "), 0)];
  };
}
