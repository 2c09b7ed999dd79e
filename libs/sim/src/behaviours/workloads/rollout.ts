/** One ReplicaSet of a Deployment, in pods: what it is to have, has, and has available. */
export interface Size {
  readonly name: string;
  readonly wanted: number;
  readonly present: number;
  readonly available: number;
}

export interface RolloutLimits {
  readonly replicas: number;
  /** Pods that may be there beyond `replicas`. */
  readonly maxSurge: number;
  /** Pods of `replicas` that may be missing or unavailable. */
  readonly maxUnavailable: number;
}

type Sizes = ReadonlyMap<string, number>;

/**
 * The next sizes of a rolling update: the new ReplicaSet grows as far as the surge allows, the old ones, oldest first,
 * shrink by their unavailable pods and then as far as enough pods stay available. Both read the same moment, so a step
 * never breaks a limit; the steps that follow come with the pods' changes.
 */
export function rollingSizes(limits: RolloutLimits, fresh: Size, old: readonly Size[]): Sizes {
  const { replicas, maxSurge, maxUnavailable } = limits;
  const total = [fresh, ...old].reduce((sum, { wanted }) => sum + wanted, 0);
  // What a ReplicaSet has not given up yet takes room still.
  const held = [fresh, ...old].reduce((sum, { wanted, present }) => sum + Math.max(wanted, present), 0);
  const room = Math.max(0, replicas + maxSurge - held);
  const sizes = new Map([[fresh.name, Math.min(replicas, fresh.wanted + room)]]);
  const leastAvailable = replicas - maxUnavailable;
  // The new pods that are still to come count as missing already.
  const coming = Math.max(0, Math.min(fresh.wanted, replicas) - fresh.available);
  let spare = Math.max(0, total - leastAvailable - coming);
  for (const one of old) {
    const lame = Math.min(spare, Math.max(0, one.wanted - one.available));
    sizes.set(one.name, one.wanted - lame);
    spare -= lame;
  }
  const available = [fresh, ...old].reduce((sum, one) => sum + one.available, 0);
  let surplus = Math.min(spare, Math.max(0, available - leastAvailable));
  for (const { name } of old) {
    const wanted = sizes.get(name) ?? 0;
    const fewer = Math.min(wanted, surplus);
    sizes.set(name, wanted - fewer);
    surplus -= fewer;
  }
  return sizes;
}

/** The next sizes where no two templates may run together: the old pods are gone before the first new one comes. */
export function recreateSizes(replicas: number, fresh: Size, old: readonly Size[]): Sizes {
  const gone = old.every(({ present, wanted }) => present === 0 && wanted === 0);
  return new Map([[fresh.name, gone ? replicas : fresh.wanted], ...old.map(({ name }) => [name, 0] as const)]);
}

/** The sizes while a Deployment is paused: its newest ReplicaSet alone follows the number of replicas. */
export function pausedSizes(replicas: number, newest: Size, others: readonly Size[]): Sizes {
  const rest = others.reduce((sum, { wanted }) => sum + wanted, 0);
  return new Map([[newest.name, Math.max(0, replicas - rest)]]);
}
