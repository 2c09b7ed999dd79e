import type { Clock } from "@evenkeel/runtime";
import { at, type Json, listAt, textAt } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { leftOut } from "../reads/named-read.ts";
import { pathOf } from "../writes/api-path.ts";
import { isDone, type MemberCalls } from "../writes/member-calls.ts";
import { DIVIDED_KINDS, type DividedKind, workloadText } from "./workload-name.ts";
import type { InMember } from "./workload-placement.ts";

/** Objects of a kind that each cluster is asked for. */
const MOST = 500;

/** Milliseconds that an answer is kept: dashboards ask again and again. */
const KEPT = 5_000;

export interface ListedWorkloadsOptions {
  readonly calls: MemberCalls;
  readonly members: () => readonly Member[];
  /** LABEL_KEY, which every copy has. */
  readonly labelKey: string;
  readonly clock: Clock;
}

export interface Listed {
  /** By `Kind/namespace/name`, in this order. Each has all members, in their order. */
  readonly found: ReadonlyMap<string, readonly InMember[]>;
  /** Members that could not be asked. */
  readonly warnings: readonly string[];
  readonly truncated: boolean;
}

interface KindInMember {
  readonly member: Member;
  /** Undefined if the member could not be asked. */
  readonly objects: ReadonlyMap<string, Json> | undefined;
  readonly warnings: readonly string[];
  readonly truncated: boolean;
}

/** The workloads of all members that were written through a proxy. Callers at the same time share one reading. */
export class ListedWorkloads {
  readonly #options: ListedWorkloadsOptions;
  #last: { readonly at: number; readonly reading: Promise<Listed> } | undefined;

  constructor(options: ListedWorkloadsOptions) {
    this.#options = options;
  }

  list(): Promise<Listed> {
    const now = this.#options.clock.monotonic();
    if (this.#last === undefined || now - this.#last.at > KEPT) this.#last = { at: now, reading: this.#read() };
    return this.#last.reading;
  }

  async #read(): Promise<Listed> {
    const kinds = await Promise.all(
      Object.keys(DIVIDED_KINDS).map(async (kind) => this.#readKind(kind as DividedKind)),
    );
    const all = kinds.flat();
    return {
      found: new Map(kinds.flatMap(workloadsOf).sort(([one], [other]) => (one < other ? -1 : 1))),
      warnings: [...new Set(all.flatMap(({ warnings }) => warnings))],
      truncated: all.some(({ truncated }) => truncated),
    };
  }

  async #readKind(kind: DividedKind): Promise<readonly KindInMember[]> {
    const { calls, members, labelKey } = this.#options;
    const collection = { group: "apps", version: "v1", resource: DIVIDED_KINDS[kind] };
    const query = new URLSearchParams({ labelSelector: labelKey, limit: String(MOST) });
    const path = pathOf({ ...collection, namespace: undefined, name: undefined }, query);
    const replies = await calls.all(members(), () => ({ method: "GET", path }));
    return replies.map((reply) => ({
      member: reply.member,
      objects: isDone(reply) ? byName(kind, listAt(reply.json, ["items"])) : undefined,
      warnings: leftOut([reply]),
      truncated: (textAt(reply.json, ["metadata", "continue"]) ?? "") !== "",
    }));
  }
}

function byName(kind: DividedKind, items: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(
    items.map((item) => {
      const metadata = at(item, ["metadata"]);
      const [namespace = "", name = ""] = ["namespace", "name"].map((field) => textAt(metadata, [field]));
      return [workloadText({ kind, namespace, name }), item];
    }),
  );
}

function workloadsOf(kind: readonly KindInMember[]): readonly (readonly [string, readonly InMember[]])[] {
  const names = new Set(kind.flatMap(({ objects }) => [...(objects?.keys() ?? [])]));
  return [...names].map((name) => {
    const inMembers = kind.map(({ member, objects }) => ({
      member,
      object: objects === undefined ? undefined : (objects.get(name) ?? null),
    }));
    return [name, inMembers] as const;
  });
}
