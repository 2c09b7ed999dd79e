import { type Json, numberAt, textAt, withValue } from "../bodies/json-text.ts";
import { JsonBody } from "../bodies/object-body.ts";
import { REPLICAS } from "../bodies/patch-body.ts";
import type { SplitSnapshot } from "../decide/split-snapshot.ts";
import type { SplitVerdict } from "../decide/split.ts";
import type { Member } from "../members/member.ts";
import { TOTAL } from "../reads/merged-object.ts";
import { type ApiPath, pathOf } from "./api-path.ts";
import { type Change, scaleView, type Target } from "./change.ts";
import { ownsReplicasAlone } from "./replicas-owner.ts";
import type { Step } from "./transaction.ts";
import { isDivided, type Kind } from "./verb-table.ts";
import { copyOfHolder } from "./what-is-copied.ts";

/** A write of one object that several members get. */
export interface ManyWrite {
  readonly path: ApiPath;
  readonly kind: Kind;
  readonly change: Change;
  /** Whether copies get the label of their cluster. */
  readonly labels: boolean;
  readonly dryRun: boolean;
}

/** How the replicas of a write are divided. */
export interface Split {
  readonly total: number;
  readonly snapshot: SplitSnapshot;
  readonly verdict: SplitVerdict;
  readonly parts: ReadonlyMap<string, number>;
}

/** What the members have, and what they are to get. */
export interface Plan {
  readonly held: ReadonlyMap<string, Json>;
  /** The version that each member's write insists on. */
  readonly versions: ReadonlyMap<string, string>;
  /** Undefined if the replicas stay as they are. */
  readonly split: Split | undefined;
}

/** Makes one request for each member of what the client asks for. */
export class MemberSteps {
  readonly #write: ManyWrite;
  readonly #labelKey: string;

  constructor(write: ManyWrite, labelKey: string) {
    this.#write = write;
    this.#labelKey = labelKey;
  }

  get isScale(): boolean {
    return this.#write.path.subresource === "scale";
  }

  /** Undefined if the member neither has the object nor gets it by this request. */
  stepFor(member: Member, plan: Plan): Step | undefined {
    const { change, path, kind } = this.#write;
    const current = plan.held.get(member.name);
    if (current === undefined && !this.#isCreated(member, plan)) return undefined;
    const method = current === undefined && change.method === "PUT" ? "POST" : change.method;
    const place = method === "POST" ? { ...path, name: undefined, subresource: undefined } : path;
    const call = {
      method,
      path: pathOf(place, path.query),
      ...change.bodyFor(this.#target(member, plan)),
    };
    const isFine: Step["isFine"] = ({ status }) =>
      kind === "Namespace" && !member.own && method === "POST" && status === 409;
    return {
      member,
      call,
      before: this.#before(member, current, method),
      isFine,
    };
  }

  /** For a member that lacks the object and is to get replicas by a patch: a copy of another member's, changed. */
  copyFor(member: Member, changed: Json, { total, parts }: Split): Step {
    const { kind, path } = this.#write;
    const copy = copyOfHolder(kind, withValue(changed, ["metadata", "annotations", TOTAL], String(total)));
    let body = new JsonBody(copy).set(REPLICAS, parts.get(member.name) ?? 0);
    for (const holder of [["metadata"], ["spec", "template", "metadata"]]) {
      body = body.set([...holder, "labels", this.#labelKey], member.label);
    }
    const collection = pathOf({
      ...path,
      name: undefined,
      subresource: undefined,
    });
    const before = {
      ...this.#before(member, undefined, "POST"),
      isScale: false,
    };
    return {
      member,
      call: { method: "POST", path: collection, ...body.encode() },
      before,
    };
  }

  #before(member: Member, object: Json | undefined, method: Change["method"]): Step["before"] {
    const { path, change } = this.#write;
    const name = textAt(change.view, ["metadata", "name"]) ?? path.name;
    return {
      member,
      path: pathOf({ ...path, name, subresource: undefined }),
      object,
      method,
      isScale: this.isScale,
    };
  }

  /** Whether a member without the object gets it by this very request. */
  #isCreated(member: Member, { held, split }: Plan): boolean {
    const { change, kind } = this.#write;
    if (!change.creates || this.isScale) return false;
    if (!isDivided(kind) || member.own) return true;
    const part = split?.verdict.after.find(({ cluster }) => cluster === member.name);
    return held.size === 0 ? part?.reason !== "Excluded" : (part?.replicas ?? 0) > 0;
  }

  /** The body of a member's apply, with the replicas left out. */
  bodyWithoutReplicas(member: Member, plan: Plan, version: string): Pick<Step["call"], "contentType" | "body"> {
    return this.#write.change.bodyFor({
      ...this.#target(member, plan),
      ...{ replicas: undefined, annotations: {}, version },
    });
  }

  /** Whether the request is a server-side apply of a workload. */
  get isApply(): boolean {
    const { change, kind } = this.#write;
    return change.method === "PATCH" && change.creates && isDivided(kind) && !this.isScale;
  }

  get fieldManager(): string {
    return this.#write.path.query.get("fieldManager") ?? "";
  }

  /** The member's replicas, if an apply that leaves them out would have the server reset them. */
  #kept(current: Json | undefined): number | undefined {
    if (!this.isApply) return undefined;
    if (current === undefined) return 0;
    return ownsReplicasAlone(current, this.fieldManager) ? numberAt(current, REPLICAS) : undefined;
  }

  #annotations(current: Json | undefined, split: Split | undefined, kept: number | undefined): Target["annotations"] {
    if (this.isScale) return {};
    if (split !== undefined) return { [TOTAL]: String(split.total) };
    const total = textAt(current, ["metadata", "annotations", TOTAL]);
    return kept === undefined || total === undefined ? {} : { [TOTAL]: total };
  }

  #target(member: Member, { held, versions, split }: Plan): Target {
    const { change, labels } = this.#write;
    const current = held.get(member.name);
    const kept = this.#kept(current);
    const isLabelled = labels || change.method === "PATCH";
    return {
      isOwn: member.own,
      current: this.isScale ? scaleView(current) : current,
      replicas: split?.parts.get(member.name) ?? kept,
      annotations: this.#annotations(current, split, kept),
      label: isLabelled ? { key: this.#labelKey, value: member.label } : undefined,
      // Without it, what somebody else changed since would be lost if this write had to be put back.
      version: current === undefined ? undefined : versions.get(member.name),
    };
  }
}
