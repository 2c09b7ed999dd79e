import { at, type Json, textAt } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { withoutQuery } from "./api-path.ts";
import { type Call, isDone, type MemberCalls, messageOf, reasonOf, type Reply, silent } from "./member-calls.ts";
import { type Before, putBack } from "./put-back.ts";
import { type Cause, KubeFault, unavailable } from "./kube-status.ts";

/** One member's write. */
export interface Step {
  readonly member: Member;
  readonly call: Call;
  readonly before: Before;
  /** A refusal that is as good as done, such as a Namespace that exists already. */
  readonly isFine?: (reply: Reply) => boolean;
}

/** A webhook with side effects: such a member cannot be asked in advance and is written without. */
const NO_DRY_RUN = /does not support dry run/i;

/** Asks every member whether it would do its step. The replies have the order of the steps. */
export async function rehearse(calls: MemberCalls, steps: readonly Step[]): Promise<readonly Reply[]> {
  return Promise.all(
    steps.map(async ({ member, call }) =>
      calls.call(member, {
        ...call,
        path: withQuery(call.path, "dryRun", "All"),
      }),
    ),
  );
}

/** Whether a member would do its step, or cannot be asked in advance. */
export function isAgreed(reply: Reply, step: Step | undefined): boolean {
  return isDone(reply) || step?.isFine?.(reply) === true || (reply.status === 400 && NO_DRY_RUN.test(messageOf(reply)));
}

/**
 * Carries out every step in parallel. If one fails, the others are put back, and a KubeFault says what became of each
 * member. `rehearsed` has the replies of the dry run.
 */
export async function commit(
  calls: MemberCalls,
  steps: readonly Step[],
  rehearsed: readonly Reply[],
): Promise<readonly Reply[]> {
  const replies = await Promise.all(steps.map(async ({ member, call }) => calls.call(member, call)));
  const isOk = (index: number): boolean => {
    const reply = replies[index];
    return reply !== undefined && (isDone(reply) || steps[index]?.isFine?.(reply) === true);
  };
  const failed = replies.filter((_reply, index) => !isOk(index));
  const [first] = failed.toSorted((a, b) => Number(b.member.own) - Number(a.member.own));
  if (first === undefined) return replies;

  const causes = await Promise.all(
    steps.map(async (step, index): Promise<Cause> => {
      const reply = replies[index] ?? silent(step.member);
      const field = step.member.name;
      if (isRefusal(reply)) {
        return {
          field,
          reason: "Refused",
          message: `${field}: ${messageOf(reply)}; nothing was changed there`,
        };
      }
      const restored = await putBack(calls, step.before, answerOf(reply) ?? answerOf(rehearsed[index]));
      const { reason, message } = RESTORED[restored];
      const silence = reply.status === undefined ? "gave no answer; when it was asked again it " : "";
      const said = restored === "Failed" ? message : `${silence}${message}`;
      return { field, reason, message: `${field}: ${said}` };
    }),
  );
  throw failure(first, causes);
}

/**
 * Whether a member certainly did nothing. After a 5xx it may have, as after no answer: its store may have been slow.
 */
function isRefusal(reply: Reply): boolean {
  return reply.status !== undefined && reply.status < 500 && !isDone(reply);
}

const RESTORED = {
  AsBefore: { reason: "PutBack", message: "is as it was before" },
  ChangedSince: {
    reason: "LeftChanged",
    message: "was changed by another client after this write and is left as it is",
  },
  Failed: {
    reason: "NotPutBack",
    message: "the write may be in effect and could not be undone",
  },
} as const;

function answerOf(reply: Reply | undefined): Json | undefined {
  return reply !== undefined && isDone(reply) ? reply.json : undefined;
}

/** The refusal of a dry run: nothing was written. */
export function refusal(replies: readonly Reply[], steps: readonly Step[]): KubeFault | undefined {
  const refused = replies.filter((reply, index) => !isAgreed(reply, steps[index]));
  const [first] = refused.toSorted((a, b) => Number(b.member.own) - Number(a.member.own));
  if (first === undefined) return undefined;
  const causes = refused.map((reply): Cause => ({
    field: reply.member.name,
    reason: reply.status === undefined ? "Unreachable" : reasonOf(reply),
    message: `${reply.member.name}: ${messageOf(reply)}`,
  }));
  return failure(first, causes);
}

function failure(first: Reply, causes: readonly Cause[]): KubeFault {
  const { name } = first.member;
  if (first.status === undefined) return unreachable([first], causes);
  const message = first.member.own ? messageOf(first) : `cluster ${name}: ${messageOf(first)}`;
  const own = at(first.json, ["details", "causes"]);
  const theirs = Array.isArray(own) ? (own as readonly Json[]).map(causeOf) : [];
  return new KubeFault(first.status, reasonOf(first) || "InternalError", message, [...theirs, ...causes]);
}

function causeOf(json: Json): Cause {
  const field = textAt(json, ["field"]);
  const text = {
    reason: textAt(json, ["reason"]) ?? "",
    message: textAt(json, ["message"]) ?? "",
  };
  return field === undefined ? text : { ...text, field };
}

/** A change of what a member may hold waits until the member can be reached. */
export function unreachable(replies: readonly Reply[], causes?: readonly Cause[]): KubeFault {
  const names = replies.map(({ member }) => member.name).join(", ");
  const each = replies.map((reply) => ({
    field: reply.member.name,
    reason: reply.fault === undefined ? "Unreachable" : "NoAuthority",
    message: `${reply.member.name}: ${messageOf(reply)}`,
  }));
  const faults = replies.flatMap(({ fault }) => fault ?? []);
  if (replies.length > 0 && faults.length === replies.length) return unavailable(faults.join("; "), causes ?? each);
  const away = replies.some(({ member }) => member.own)
    ? ""
    : "; if it stays away, delete the ClusterScore, and writes go on without it";
  return unavailable(
    `cluster ${names} cannot be reached (see condition Reachable of its ClusterScore) and may hold this object: try again later, or write to one cluster alone at /clusters/<name>/${away}`,
    causes ?? each,
  );
}

export function withQuery(path: string, name: string, value: string): string {
  const [bare, query] = withoutQuery(path);
  const parameters = new URLSearchParams(query);
  parameters.set(name, value);
  return `${bare}?${parameters.toString()}`;
}
