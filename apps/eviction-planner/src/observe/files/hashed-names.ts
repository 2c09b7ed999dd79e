import { createHash } from "node:crypto";
import type {
  Amounts,
  LabelExpression,
  Labels,
  LabelSelector,
  NodeSelectorTerm,
  PodAffinityFacts,
  PodAffinityTerm,
  PodShape,
  Taint,
  Toleration,
} from "@evenkeel/placement";
import type { NodeRow, OwnerRow, PlanSnapshot } from "../../decide/snapshot.ts";

/** Domains of names that every cluster has, and that mean something to the scheduler. */
const PUBLIC = /(^|\.)(kubernetes\.io|k8s\.io|karpenter\.sh)\//;

/** Resources that are not extended ones. */
const RESOURCES = /^(cpu|memory|pods|ephemeral-storage|hugepages-.*)$/;

/**
 * The same snapshot with hashes in the place of names, so that it can be given away: names of objects, labels with
 * their keys, images, addresses. Equal names have equal hashes, so that the plan is the same. Without the salt nobody
 * can test guesses. Numbers, keys of Kubernetes itself and kinds stay.
 */
export function withHashedNames(snapshot: PlanSnapshot, salt: string): PlanSnapshot {
  const { policy, cluster, memory } = snapshot;
  const names = new Names(
    salt,
    cluster.nodes.map(({ name }) => name),
  );
  const { text } = names;
  const { pods } = cluster;
  const byName = <Value>(record: Readonly<Record<string, Value>>, change = (value: Value) => value) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [path(name, text), change(value)]));
  return {
    ...snapshot,
    policy: { name: text(policy.name), spec: names.policy(policy.spec) },
    cluster: {
      namespaces: byName(cluster.namespaces, names.labels),
      nodes: cluster.nodes.map(names.node),
      shapes: cluster.shapes.map(names.shape),
      owners: cluster.owners.map(names.owner),
      pods: {
        ...pods,
        uid: pods.uid.map(text),
        name: pods.name.map(text),
        workloadKinds: pods.workloadKinds.map(text),
      },
      disruptionBudgets: cluster.disruptionBudgets.map((row) => ({
        ...row,
        ...{ namespace: text(row.namespace), name: text(row.name), selector: names.selector(row.selector) },
      })),
      slos: cluster.slos.map(({ namespace, name, spec }) => ({
        ...{ namespace: text(namespace), name: text(name) },
        spec: { ...spec, ...(spec.protectedLabels && { protectedLabels: names.labels(spec.protectedLabels) }) },
      })),
      nodeClasses: cluster.nodeClasses.map(({ name, spec }) => ({
        name: text(name),
        spec: {
          ...spec,
          ...names.selector(spec),
          ...(spec.preferredFor && { preferredFor: spec.preferredFor.map(text) }),
        },
      })),
    },
    memory: memory && {
      ...memory,
      levels: byName(memory.levels),
      ...(memory.underWay && { underWay: { ...memory.underWay, pods: memory.underWay.pods.map(text) } }),
      lastHour: byName(memory.lastHour),
      backOffs: memory.backOffs.map((one) => ({ ...one, owner: text(one.owner), node: text(one.node) })),
      ...(memory.departures && { departures: memory.departures.map((one) => ({ ...one, node: text(one.node) })) }),
      ...(memory.unreplaced && { unreplaced: memory.unreplaced.map(text) }),
      ...(memory.refused && { refused: memory.refused.map((one) => ({ ...one, pod: text(one.pod) })) }),
      inFlight: memory.inFlight.map((one) => ({
        ...one,
        ...{ owner: text(one.owner), from: text(one.from) },
        expected: one.expected.map((landing) => ({ ...landing, node: text(landing.node) })),
      })),
    },
  };
}

/** `namespace/name` part by part. */
function path(name: string, hash: (text: string) => string): string {
  return name.split("/").map(hash).join("/");
}

class Names {
  readonly #salt: string;
  readonly #known = new Map<string, string>();

  /** Hashes of `ordered` sort as they do: the scheduler takes the first of nodes with equal scores. */
  constructor(salt: string, ordered: readonly string[]) {
    this.#salt = salt;
    for (const [rank, name] of ordered.toSorted().entries()) {
      this.#known.set(name, `h${String(rank).padStart(6, "0")}${this.#hash(name)}`);
    }
  }

  /** Numbers stay, since selectors compare them by size, and so does what is empty or means every name. */
  readonly text = (name: string): string => {
    if (/^(-?\d*|\*|true|false)$/.test(name)) return name;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const hash = `h${this.#hash(name)}`;
    this.#known.set(name, hash);
    return hash;
  };

  #hash(name: string): string {
    return createHash("sha256").update(this.#salt).update(name).digest("hex").slice(0, 12);
  }

  readonly key = (key: string): string => (PUBLIC.test(key) ? key : this.text(key));

  readonly labels = (labels: Labels): Labels =>
    Object.fromEntries(Object.entries(labels).map(([key, value]) => [this.key(key), this.text(value)]));

  readonly amounts = (amounts: Amounts): Amounts =>
    Object.fromEntries(
      Object.entries(amounts).map(([name, amount]) => [RESOURCES.test(name) ? name : this.key(name), amount]),
    );

  readonly expressions = (expressions: readonly LabelExpression[]): LabelExpression[] =>
    expressions.map(({ key, operator, values }) => ({
      ...{ key: this.key(key), operator },
      ...(values && { values: values.map(this.text) }),
    }));

  /** Both selectors of labels and those of nodes. */
  selector<Selector extends LabelSelector | null>(selector: Selector): Selector {
    if (selector === null) return selector;
    const { matchLabels, matchExpressions } = selector;
    return {
      ...selector,
      ...(matchLabels && { matchLabels: this.labels(matchLabels) }),
      ...(matchExpressions && { matchExpressions: this.expressions(matchExpressions) }),
    };
  }

  readonly term = ({ matchExpressions, matchFields }: NodeSelectorTerm): NodeSelectorTerm => ({
    ...(matchExpressions && { matchExpressions: this.expressions(matchExpressions) }),
    // The fields are metadata.name alone.
    ...(matchFields && {
      matchFields: matchFields.map(({ values, ...field }) => ({
        ...field,
        ...(values && { values: values.map(this.text) }),
      })),
    }),
  });

  readonly node = (node: NodeRow): NodeRow => ({
    ...node,
    name: this.text(node.name),
    labels: this.labels(node.labels),
    taints: node.taints.map(this.tainted),
    allocatable: this.amounts(node.allocatable),
    images: node.images.map(({ names, sizeBytes }) => ({ names: names.map(this.text), sizeBytes })),
    attachLimits: Object.fromEntries(
      Object.entries(node.attachLimits).map(([driver, limit]) => [this.text(driver), limit]),
    ),
  });

  readonly owner = (owner: OwnerRow): OwnerRow => ({
    ...owner,
    ...{ namespace: this.text(owner.namespace), name: this.text(owner.name), uid: this.text(owner.uid) },
    workload: {
      ...owner.workload,
      ...{ name: this.text(owner.workload.name), uid: this.text(owner.workload.uid) },
    },
  });

  readonly shape = (shape: PodShape): PodShape => ({
    ...shape,
    namespace: this.text(shape.namespace),
    labels: this.labels(shape.labels),
    requests: this.amounts(shape.requests),
    hostPorts: shape.hostPorts.map((port) => ({
      ...port,
      address: port.address === "0.0.0.0" ? port.address : this.text(port.address),
    })),
    images: shape.images.map(this.text),
    nodeName: shape.nodeName === null ? null : this.text(shape.nodeName),
    nodeSelector: this.labels(shape.nodeSelector),
    requiredNodes: shape.requiredNodes?.map(this.term) ?? null,
    preferredNodes: shape.preferredNodes.map(({ weight, term }) => ({ weight, term: this.term(term) })),
    tolerations: shape.tolerations.map(this.tainted),
    affinity: this.#affinity(shape.affinity),
    antiAffinity: this.#affinity(shape.antiAffinity),
    spread: shape.spread.map((one) => ({
      ...one,
      ...{ topologyKey: this.key(one.topologyKey), selector: this.selector(one.selector) },
    })),
    ownerSelector: this.selector(shape.ownerSelector),
    volumes: shape.volumes.map((volume) => ({
      ...volume,
      name: this.text(volume.name),
      nodeAffinity: volume.nodeAffinity.map(this.term),
      zones: this.labels(volume.zones),
      csiDriver: volume.csiDriver === null ? null : this.text(volume.csiDriver),
    })),
  });

  policy(spec: PlanSnapshot["policy"]["spec"]): PlanSnapshot["policy"]["spec"] {
    const { namespaces, workloadSelectors, nodeClassPreference } = spec;
    const { include, exclude } = namespaces ?? {};
    return {
      ...spec,
      ...(namespaces && {
        namespaces: {
          ...(include && { include: include.map(this.text) }),
          ...(exclude && { exclude: exclude.map(this.text) }),
        },
      }),
      ...(workloadSelectors && { workloadSelectors: workloadSelectors.map((selector) => this.selector(selector)) }),
      ...(nodeClassPreference && { nodeClassPreference: nodeClassPreference.map(this.text) }),
    };
  }

  readonly tainted = <Tainted extends Taint | Toleration>(one: Tainted): Tainted => ({
    ...one,
    ...(one.key !== undefined && { key: this.key(one.key) }),
    ...(one.value !== undefined && { value: this.text(one.value) }),
  });

  #affinity({ required, preferred }: PodAffinityFacts): PodAffinityFacts {
    return {
      required: required.map((term) => this.#podTerm(term)),
      preferred: preferred.map(({ weight, term }) => ({ weight, term: this.#podTerm(term) })),
    };
  }

  #podTerm({ topologyKey, selector, namespaces }: PodAffinityTerm): PodAffinityTerm {
    return {
      topologyKey: this.key(topologyKey),
      selector: this.selector(selector),
      namespaces: { names: namespaces.names.map(this.text), selector: this.selector(namespaces.selector) },
    };
  }
}
