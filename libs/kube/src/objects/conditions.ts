/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** One CamelCase word. */
  readonly reason: string;
  /** One sentence for a person. */
  readonly message: string;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  /** The metadata.generation that it applies to. */
  readonly observedGeneration?: number;
}

/** A condition as a controller judges it now, without the time of its last transition. */
export type Judgement = Omit<Condition, "lastTransitionTime">;

/** The longest message of a condition, in characters. */
const MESSAGE_LIMIT = 2000;

/** Whether a condition holds, and why. `undefined` means that it is not known, which is the status Unknown. */
export function judge(
  type: string,
  holds: boolean | undefined,
  reason: string,
  message: string,
  observedGeneration: number,
): Judgement {
  const status = holds === undefined ? "Unknown" : holds ? "True" : "False";
  return { type, status, reason, message: message.slice(0, MESSAGE_LIMIT), observedGeneration };
}

/**
 * Puts `judged` into the conditions; other types keep their value and position. `lastTransitionTime` becomes `now`
 * (wall time) only where the status differs. If nothing differs the result is the same array, so that the caller knows
 * that there is nothing to write.
 */
export function setConditions(
  conditions: readonly Condition[],
  judged: readonly Judgement[],
  now: number,
): readonly Condition[] {
  return judged.reduce((present, judgement) => setOne(present, judgement, now), conditions);
}

export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function setOne(conditions: readonly Condition[], judgement: Judgement, now: number): readonly Condition[] {
  const old = findCondition(conditions, judgement.type);
  const lastTransitionTime = old?.status === judgement.status ? old.lastTransitionTime : stamp(now);
  const condition: Condition = { ...judgement, lastTransitionTime };
  if (!old) return [...conditions, condition];
  return isSame(old, condition) ? conditions : conditions.map((each) => (each === old ? condition : each));
}

function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}

/** metav1.Time has whole seconds. */
function stamp(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}
