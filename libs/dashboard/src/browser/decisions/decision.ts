/** A decision as `decisions.v1` has it in JSON. */
export interface Decision {
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly object: { readonly kind: string; readonly namespace?: string; readonly name: string };
  readonly action: string;
  readonly reason: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly message: string;
  readonly dryRun: boolean;
}

/** `Kind/namespace/name`. */
export function objectKey({ kind, namespace, name }: Decision["object"]): string {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** Whether it changed anything, or would have. */
export function isChange({ before, after }: Decision): boolean {
  return JSON.stringify(before ?? null) !== JSON.stringify(after ?? null);
}

export interface DecisionFilter {
  /** Found anywhere in object, reason or message, whatever the case. */
  readonly text: string;
  /** Empty: any. */
  readonly action: string;
  readonly reason: string;
  readonly changesOnly: boolean;
}

export function fits(decision: Decision, { text, action, reason, changesOnly }: DecisionFilter): boolean {
  if (action !== "" && decision.action !== action) return false;
  if (reason !== "" && decision.reason !== reason) return false;
  if (changesOnly && !isChange(decision)) return false;
  const sought = text.trim().toLowerCase();
  if (sought === "") return true;
  return `${objectKey(decision.object)}\n${decision.reason}\n${decision.message}\n${decision.id}`
    .toLowerCase()
    .includes(sought);
}
