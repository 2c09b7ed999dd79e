import { keyOf, type KubeObject } from "@evenkeel/kube";
import { MetaNames } from "../src/observe/kubernetes/meta-labels.ts";
import type { Surroundings } from "../src/observe/kubernetes/surroundings.ts";
import type { TargetGroup } from "../src/observe/target-group.ts";

/** The objects that a group may take labels from. A list that is absent is of metadata that is not attached. */
export interface Around {
  readonly services?: readonly KubeObject[];
  readonly pods?: readonly KubeObject[];
  readonly nodes?: readonly KubeObject[];
  readonly namespaces?: readonly KubeObject[];
  readonly replicaSets?: readonly KubeObject[];
  readonly jobs?: readonly KubeObject[];
  readonly attachJob?: boolean;
}

export function surroundingsOf(around: Around = {}): Surroundings {
  const find = (objects: readonly KubeObject[] | undefined) =>
    objects && ((key: string) => objects.find((object) => keyOf(object) === key) as never);
  return {
    names: new MetaNames(),
    service: find(around.services ?? []) as Surroundings["service"],
    pod: find(around.pods ?? []) as Surroundings["pod"],
    node: find(around.nodes),
    namespace: find(around.namespaces),
    replicaSet: find(around.replicaSets),
    job: find(around.jobs),
    attachJob: around.attachJob ?? false,
  };
}

/** A group as plain objects; `k:` stands for `__meta_kubernetes_`. */
export function shown({ source, labels, targets }: TargetGroup) {
  const plain = (each: ReadonlyMap<string, string>) =>
    Object.fromEntries([...each].map(([name, value]) => [name.replace("__meta_kubernetes_", "k:"), value]));
  return { source, labels: plain(labels), targets: targets.map(plain) };
}
