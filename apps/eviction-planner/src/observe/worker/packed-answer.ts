import type { Answer } from "./answer-plan.ts";

/**
 * An answer on its way from another thread. Reading objects blocks the thread that receives them, and a plan names each
 * pod that stays on a hot node: in a large cluster, that is most of the answer. These rows come as texts, and are read
 * in parts.
 */
export interface PackedAnswer {
  readonly answer: Answer;
  readonly stays: readonly string[];
}

/** Rows of a text. */
const ROWS = 500;

export function packAnswer(answer: Answer): PackedAnswer {
  const { stays, ...plan } = answer.plan;
  const texts = Array.from({ length: Math.ceil(stays.length / ROWS) }, (_, part) =>
    JSON.stringify(stays.slice(part * ROWS, (part + 1) * ROWS)),
  );
  return { answer: { ...answer, plan: { ...plan, stays: [] } }, stays: texts };
}
