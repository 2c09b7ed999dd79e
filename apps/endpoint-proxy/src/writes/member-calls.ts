import { type Json, parseJson, textAt } from "../bodies/json-text.ts";
import { NoAuthority } from "../gateway/errors.ts";
import type { Identity } from "../gateway/identity.ts";
import type { MemberClient } from "../members/member-client.ts";
import type { Member } from "../members/member.ts";

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly contentType?: string | undefined;
  readonly body?: Buffer | undefined;
  readonly accept?: string | undefined;
}

export interface Reply {
  readonly member: Member;
  /** Undefined: there was no answer. What was asked for may have happened all the same. */
  readonly status: number | undefined;
  /** The answer if it is JSON. */
  readonly json: Json | undefined;
  readonly body: Buffer;
  readonly contentType: string;
  readonly warnings: readonly string[];
  /** Seconds after which to ask again, as the member says. */
  readonly retryAfter?: number | undefined;
  /** Why the member was not asked, where that is known. */
  readonly fault?: string;
}

export interface CallLimits {
  /** Milliseconds for a whole answer. */
  readonly deadline: number;
  /** The same for calls other than GET; `deadline` if it is left out. */
  readonly writeDeadline?: number | undefined;
  /** Bytes of an answer. */
  readonly size: number;
}

/** Asks members as one user, one whole JSON answer each. Never throws for what a member does. */
export class MemberCalls {
  readonly #client: MemberClient;
  readonly #identity: Identity;
  readonly #limits: CallLimits;

  constructor(client: MemberClient, identity: Identity, limits: CallLimits) {
    this.#client = client;
    this.#identity = identity;
    this.#limits = limits;
  }

  async call(member: Member, call: Call): Promise<Reply> {
    if (member.standing === "Unreachable") return silent(member);
    try {
      const { size, writeDeadline = this.#limits.deadline } = this.#limits;
      const deadline = call.method === "GET" ? this.#limits.deadline : writeDeadline;
      const signal = AbortSignal.timeout(deadline);
      const accept = call.accept ?? "application/json";
      const answer = await this.#client.ask(member, this.#identity, {
        ...call,
        accept,
        signal,
        deadline,
      });
      const body = await answer.read(size);
      const { status, contentType, warnings, retryAfter } = answer;
      return {
        member,
        status,
        retryAfter,
        contentType,
        warnings,
        body,
        json: jsonOf(contentType, body),
      };
    } catch (error) {
      return error instanceof NoAuthority ? { ...silent(member), fault: error.message } : silent(member);
    }
  }

  /** The same, with another time for a whole answer. */
  within(deadline: number): MemberCalls {
    return new MemberCalls(this.#client, this.#identity, { ...this.#limits, deadline, writeDeadline: deadline });
  }

  async all(members: readonly Member[], callOf: (member: Member) => Call): Promise<readonly Reply[]> {
    return Promise.all(members.map(async (member) => this.call(member, callOf(member))));
  }
}

export function silent(member: Member): Reply {
  return {
    member,
    status: undefined,
    json: undefined,
    body: Buffer.alloc(0),
    contentType: "",
    warnings: [],
  };
}

export function isDone({ status }: Reply): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** The reason of a refusal, such as AlreadyExists. */
export function reasonOf({ json }: Reply): string {
  return textAt(json, ["reason"]) ?? "";
}

export function messageOf({ json, status, fault = "no answer" }: Reply): string {
  return textAt(json, ["message"]) ?? (status === undefined ? fault : `HTTP ${status}`);
}

function jsonOf(contentType: string, body: Buffer): Json | undefined {
  if (!contentType.includes("json")) return undefined;
  try {
    return parseJson(body.toString());
  } catch {
    return undefined;
  }
}
