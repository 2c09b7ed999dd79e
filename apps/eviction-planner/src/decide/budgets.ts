import { type Account, account, disruptionAccounts } from "./disruption-budgets.ts";
import { type Hold, hold } from "./obstacles.ts";
import { NONE, type PlanSnapshot } from "./snapshot.ts";

const BACK_OFF = hold("BackOff");
const NOT_REPLACED = hold("ReplacementNotReady");

/**
 * Limits that each eviction of a plan uses up: PodDisruptionBudgets, the hour of WorkloadSLOs, namespaces, the minute,
 * and one eviction at a time for each owner and node. What an earlier plan spent is counted from the start.
 */
export class Budgets {
  readonly #snapshot: PlanSnapshot;
  readonly #ofShape: readonly (readonly Account[])[];
  /** Null for a question that nobody carries out. */
  readonly #minute: Account | null;
  readonly #owners = new Map<number, Account>();
  readonly #nodes = new Map<number, Account>();
  /** Owners' workloads and nodes that must be left alone, as `uid node`. */
  readonly #backOffs: ReadonlySet<string>;
  /** Workloads that lack a pod since an eviction. */
  readonly #unreplaced: ReadonlySet<string>;
  /** By uid of the pod, what refused its eviction. */
  readonly #refused: ReadonlyMap<string, string>;

  constructor(snapshot: PlanSnapshot) {
    const { memory, policy } = snapshot;
    const at = memory?.at ?? snapshot.at;
    this.#snapshot = snapshot;
    this.#ofShape = accountsOfShapes(snapshot);
    this.#minute =
      memory === null ? null : account("MinuteLimit", null, policy.spec.maxEvictionsPerMinute - memory.lastMinute);
    this.#backOffs = new Set(
      memory?.backOffs.filter(({ until }) => until > at).map(({ owner, node }) => `${owner} ${node}`),
    );
    this.#unreplaced = new Set(memory?.unreplaced);
    this.#refused = new Map(memory?.refused?.map(({ pod, by }) => [pod, by]));
    this.#countInFlight();
  }

  /** The first thing that holds a pod now, of those that count. */
  hold(pod: number, counts: (hold: Hold) => boolean): Hold | undefined {
    const refused = this.#refusal(pod);
    if (refused !== undefined && counts(refused)) return refused;
    if (this.#isUnreplaced(pod) && counts(NOT_REPLACED)) return NOT_REPLACED;
    if (this.#isBackedOff(pod) && counts(BACK_OFF)) return BACK_OFF;
    for (const { hold, left } of this.#accountsOf(pod)) if (left <= 0 && counts(hold)) return hold;
    return undefined;
  }

  spend(pod: number): void {
    for (const account of this.#accountsOf(pod)) account.left -= 1;
  }

  refund(pod: number): void {
    for (const account of this.#accountsOf(pod)) account.left += 1;
  }

  /** The limits that an eviction of the pod counts in. */
  limits(pod: number): readonly Hold[] {
    return this.#accountsOf(pod).map(({ hold }) => hold);
  }

  #refusal(pod: number): Hold | undefined {
    if (this.#refused.size === 0) return undefined;
    const by = this.#refused.get(this.#snapshot.cluster.pods.uid[pod] ?? "");
    return by === undefined ? undefined : hold("Refused", by);
  }

  #isUnreplaced(pod: number): boolean {
    if (this.#unreplaced.size === 0) return false;
    const { pods, owners } = this.#snapshot.cluster;
    return this.#unreplaced.has(owners[pods.owner[pod] as number]?.workload.uid ?? "");
  }

  #isBackedOff(pod: number): boolean {
    if (this.#backOffs.size === 0) return false;
    const { pods, owners, nodes } = this.#snapshot.cluster;
    const workload = owners[pods.owner[pod] as number]?.workload.uid;
    return this.#backOffs.has(`${workload} ${nodes[pods.node[pod] as number]?.name}`);
  }

  #accountsOf(pod: number): readonly Account[] {
    const { pods } = this.#snapshot.cluster;
    const ofShape = this.#ofShape[pods.shape[pod] as number] ?? [];
    if (this.#minute === null) return ofShape;
    const owner = one(this.#owners, pods.owner[pod] as number, "OwnerInFlight");
    const node = one(this.#nodes, pods.node[pod] as number, "NodeInFlight");
    return [this.#minute, ...ofShape, owner, node];
  }

  #countInFlight(): void {
    const { cluster, memory, policy } = this.#snapshot;
    if (memory === null) return;
    const ownerOf = new Map(cluster.owners.map(({ uid }, index) => [uid, index]));
    const nodeOf = new Map(cluster.nodes.map(({ name }, index) => [name, index]));
    for (const { owner, from } of memory.inFlight) {
      const [ownerIndex, nodeIndex] = [ownerOf.get(owner), nodeOf.get(from)];
      if (ownerIndex !== undefined) one(this.#owners, ownerIndex, "OwnerInFlight").left -= 1;
      if (nodeIndex !== undefined) one(this.#nodes, nodeIndex, "NodeInFlight").left -= 1;
    }
    if (policy.spec.basis !== "usage") return;
    // Usage over a window that began before a pod was gone still contains the pod: the node looks hotter than it is.
    for (const { node, at } of memory.departures ?? []) {
      const index = nodeOf.get(node) ?? NONE;
      const { measuredSince = Infinity } = cluster.nodes[index] ?? {};
      if (measuredSince < at) one(this.#nodes, index, "NodeInFlight").left -= 1;
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
  const awaited = new Set(memory?.awaited);
  const budgets = cluster.disruptionBudgets.map((row) =>
    awaited.has(`${row.namespace}/${row.name}`) ? { ...row, isCurrent: false } : row,
  );
  const disruption = disruptionAccounts(budgets, policy.spec.respectPDB);
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
  const namespaceOf = new Map(cluster.owners.map(({ uid, namespace }) => [uid, namespace]));
  const inFlight = (namespace: string) =>
    (memory?.inFlight ?? []).filter(({ owner }) => namespaceOf.get(owner) === namespace).length;
  return cluster.shapes.map(({ namespace, labels }) => {
    const accounts = [...disruption(namespace, labels), ...(hours.get(namespace) ?? []).map(({ account }) => account)];
    if (limit === undefined) return accounts;
    const own = namespaces.get(namespace) ?? account("NamespaceLimit", namespace, limit - inFlight(namespace));
    namespaces.set(namespace, own);
    return [...accounts, own];
  });
}
