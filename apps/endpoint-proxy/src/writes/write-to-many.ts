import { setTimeout as pause } from "node:timers/promises";
import { at, type Json, listAt, numberAt, textAt } from "../bodies/json-text.ts";
import { REPLICAS, VERSION } from "../bodies/patch-body.ts";
import { splitDecider } from "../decide/split.ts";
import type { Member } from "../members/member.ts";
import type { Held } from "../reads/merged-object.ts";
import { mergedObject } from "../reads/named-read.ts";
import { decodeVersions } from "../reads/version-vector.ts";
import { objectKey } from "./api-path.ts";
import { scaleView } from "./change.ts";
import { type Answer, badRequest, conflict, jsonAnswer, KubeFault } from "./kube-status.ts";
import { isDone, type MemberCalls, type Reply, silent } from "./member-calls.ts";
import { type ManyWrite, MemberSteps, type Plan, type Split } from "./member-steps.ts";
import { isMissingNamespace, namespaceMaker } from "./missing-namespace.ts";
import type { AnswersOptions } from "./options.ts";
import { otherScalers } from "./other-scalers.ts";
import { markOf } from "./put-back.ts";
import { readHeld } from "./read-held.ts";
import { forced, isOwnConflict, ownsReplicasAlone, takeOver } from "./replicas-owner.ts";
import { splitPlan } from "./split-plan.ts";
import { commit, isAgreed, refusal, rehearse, type Step } from "./transaction.ts";
import { WorkloadReferences } from "./workload-references.ts";

/** As kube-apiserver does with a patch that meets a conflict, which the client did not ask to be told of. */
const ATTEMPTS = 5;

/**
 * Writes one object to every member: reads what each has, divides the replicas, asks each in advance (dry run), then
 * writes to all in parallel and puts back what was written if one fails.
 */
export class WriteToMany {
  readonly #options: AnswersOptions;
  readonly #calls: MemberCalls;
  readonly #write: ManyWrite;
  readonly #steps: MemberSteps;
  /** Members that a creation goes on without, and why. */
  readonly #leftOut = new Map<string, string>();

  constructor(options: AnswersOptions, calls: MemberCalls, write: ManyWrite) {
    this.#options = options;
    this.#calls = calls;
    this.#write = write;
    this.#steps = new MemberSteps(write, options.labelKey);
  }

  async answer(): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attempt();
      } catch (error) {
        if (error instanceof LeftOut) continue;
        if (!this.#mayRetry(error, attempt)) throw error;
        await pause(Math.random() * 20 * attempt);
      }
    }
  }

  /** What could not be put back is told at once: another attempt would start from a state that nobody asked for. */
  #mayRetry(error: unknown, attempt: number): boolean {
    if (!(error instanceof KubeFault) || error.code !== 409 || textAt(error.status, ["reason"]) !== "Conflict")
      return false;
    const causes = listAt(error.status, ["details", "causes"]).map((cause) => textAt(cause, ["reason"]) ?? "");
    const { change } = this.#write;
    const isFinal = causes.includes("NotPutBack") || causes.includes("FieldManagerConflict");
    return !isFinal && change.version === undefined && change.method !== "POST" && attempt < ATTEMPTS;
  }

  async #attempt(): Promise<Answer> {
    const plan = await this.#plan();
    const patched = await this.#rehearse(this.#members().flatMap((member) => this.#steps.stepFor(member, plan) ?? []));
    const copied = await this.#rehearse(this.#copies(plan, patched));
    const steps = [...patched.steps, ...copied.steps];
    const agreed = [...patched.replies, ...copied.replies];
    const references = new WorkloadReferences(this.#options, this.#calls, this.#write, plan, agreed);
    const looking = references.lacking();
    const scaling = otherScalers(this.#calls, this.#members(), this.#write, plan);
    if (this.#write.dryRun) {
      this.#record(plan);
      return this.#merged(agreed, plan.split, [...(await looking), ...(await scaling)]);
    }
    const replies = await this.#commit(plan, steps, agreed);
    this.#notePlaced(plan);
    this.#record(plan);
    const owned = await this.#owned(plan, steps, replies);
    const more = await references.settle(await looking);
    return this.#merged(owned, plan.split, [...more, ...(await scaling)]);
  }

  /** A process that is killed in between leaves a note of what it began. */
  async #commit({ split }: Plan, steps: readonly Step[], agreed: readonly Reply[]): Promise<readonly Reply[]> {
    const { begunWrites } = this.#options;
    const { kind, path, change } = this.#write;
    const { isScale } = this.#steps;
    const object = objectKey(kind, path, textAt(change.view, ["metadata", "name"]));
    const members = steps.map(({ member, before }, index) => {
      const asked = agreed[index]?.json;
      const mark = asked === undefined || !isDone(agreed[index] as Reply) ? null : markOf(asked, isScale);
      return [member.name, { before: markOf(before.object, isScale), asked: mark }] as const;
    });
    const what = split === undefined ? "a change" : `a write of ${split.total} replicas`;
    const end = await begunWrites.begin({ object, what, isScale, members: Object.fromEntries(members) });
    try {
      const replies = await commit(this.#calls, steps, agreed);
      begunWrites.settle(object);
      return replies;
    } finally {
      end();
    }
  }

  /** After an apply that leaves the replicas out: they are not the client's. */
  async #owned(plan: Plan, steps: readonly Step[], replies: readonly Reply[]): Promise<readonly Reply[]> {
    const { isApply, fieldManager } = this.#steps;
    if (!isApply || at(this.#write.change.view, REPLICAS) !== undefined) return replies;
    return Promise.all(
      steps.map(async (step, index) => {
        const reply = replies[index] ?? silent(step.member);
        if (!ownsReplicasAlone(reply.json, fieldManager)) return reply;
        return takeOver(this.#calls, step, reply, (version) =>
          this.#steps.bodyWithoutReplicas(step.member, plan, version),
        );
      }),
    );
  }

  /** The own member first; without those that are left out. */
  #members(): readonly Member[] {
    return this.#options.members.all().filter(({ name }) => !this.#leftOut.has(name));
  }

  async #plan(): Promise<Plan> {
    const { change, path } = this.#write;
    const isNew = change.method === "POST";
    const held = isNew ? new Map<string, Json>() : await readHeld(this.#calls, this.#members(), path, change);
    return { held, versions: this.#versions(held), split: this.#split(held) };
  }

  /** Throws 409 if the version that the client insists on is of another time. */
  #versions(held: ReadonlyMap<string, Json>): ReadonlyMap<string, string> {
    const read = new Map([...held].map(([name, object]) => [name, textAt(object, VERSION) ?? ""]));
    const { version } = this.#write.change;
    if (version === undefined || version === "") return read;
    const layout = this.#options.layouts.layout();
    const given = decodeVersions(version, layout);
    // A member that has just been added has no place in versions yet.
    const has = (name: string): boolean => layout?.slots.includes(name) === true;
    const isCurrent =
      given.kind === "own"
        ? this.#members().every(({ own, name }) => !own || read.get(name) === given.version)
        : given.kind === "vector" &&
          this.#members().every(({ name }) => !has(name) || given.versions.get(name) === read.get(name));
    if (isCurrent) return read;
    const { resource, group, name = "" } = this.#write.path;
    const what = `${resource}${group === "" ? "" : `.${group}`} "${name}"`;
    throw conflict(
      `Operation cannot be fulfilled on ${what}: the object has been modified; please apply your changes to the latest version and try again`,
    );
  }

  #split(held: ReadonlyMap<string, Json>): Split | undefined {
    const snapshot = splitPlan(this.#options, { write: this.#write, held, leftOut: this.#leftOut });
    if (snapshot === undefined) return undefined;
    const verdict = splitDecider.decide(snapshot);
    return {
      total: snapshot.total,
      snapshot,
      verdict,
      parts: new Map(verdict.after.map((part) => [part.cluster, part.replicas])),
    };
  }

  /** The dry run. Throws the refusal if a member refuses, and LeftOut if a creation goes on without a member. */
  async #rehearse(wanted: readonly Step[]): Promise<Rehearsal> {
    const first = await rehearse(this.#calls, wanted);
    const steps = wanted.map((step, index) =>
      isOwnConflict(first[index] ?? silent(step.member)) ? forced(step) : step,
    );
    const again = await rehearse(
      this.#calls,
      steps.filter((step) => !wanted.includes(step)),
    );
    const replies = first.map((reply) => again.find(({ member }) => member.name === reply.member.name) ?? reply);
    // Nothing is made for a write that is refused all the same.
    const final = replies.map((reply, index) => (this.#maySettle(reply, steps[index]) ? fine(reply) : reply));
    const certain = refusal(final, steps);
    if (certain !== undefined) throw certain;
    const settled = await Promise.all(replies.map(async (reply, index) => this.#settled(reply, steps[index])));
    if (settled.some(({ member }) => this.#leftOut.has(member.name))) throw new LeftOut();
    const fault = refusal(settled, steps);
    if (fault !== undefined) throw fault;
    return { steps, replies: settled };
  }

  /** Whether a peer that refuses may be left out, or its missing namespace be made. */
  #maySettle(reply: Reply, step: Step | undefined): boolean {
    if (step === undefined || isAgreed(reply, step) || step.member.own || step.before.object !== undefined)
      return false;
    return isLeftOut(reply, step) || isMissingNamespace(reply);
  }

  /** What remains of a refusal after a missing namespace was made. */
  async #settled(reply: Reply, step: Step | undefined): Promise<Reply> {
    if (step === undefined || !this.#maySettle(reply, step)) return reply;
    const { name } = step.member;
    if (isLeftOut(reply, step)) {
      this.#leftOut.set(name, reply.fault === undefined ? "cannot be reached" : "has no authority to verify it by");
    }
    if (!isMissingNamespace(reply)) return reply;
    const make = namespaceMaker(this.#calls, this.#options.labelKey, this.#write.dryRun);
    const made = await make(step.member, this.#write.path.namespace ?? "");
    if (made === "refused") this.#leftOut.set(name, "lacks the namespace, which you may not create there");
    if (made === "rehearsed") return { ...reply, status: 200, json: undefined };
    return made === "made" ? ((await rehearse(this.#calls, [step]))[0] ?? reply) : reply;
  }

  /** For members that a patch gives replicas and that lack the object. */
  #copies({ held, split }: Plan, { steps, replies }: Rehearsal): readonly Step[] {
    if (split === undefined) return [];
    const lacking = this.#members().filter(
      (member) => !steps.some((step) => step.member.name === member.name) && (split.parts.get(member.name) ?? 0) > 0,
    );
    if (lacking.length === 0) return [];
    const reply = replies.find(({ member }) => member.own);
    const changed = this.#write.change.isReplicasOnly
      ? held.get(this.#options.members.own()?.name ?? "")
      : reply !== undefined && isDone(reply)
        ? reply.json
        : undefined;
    if (changed === undefined) {
      const names = lacking.map(({ name }) => name).join(", ");
      throw badRequest(
        `cluster ${names} lacks this object, and the own cluster cannot be asked in advance what it will be: change the replicas alone first`,
      );
    }
    return lacking.map((member) => this.#steps.copyFor(member, changed, split));
  }

  /** Not before all members have agreed: a write that is refused divides nothing. */
  #record({ split }: Plan): void {
    if (split !== undefined) this.#options.record(split.verdict, split.snapshot);
  }

  /** Room that is used from now on, until the next score shows it. */
  #notePlaced({ held, split }: Plan): void {
    if (split === undefined) return;
    const now = this.#options.clock.now();
    for (const [name, part] of split.parts) {
      const before = numberAt(held.get(name), REPLICAS) ?? 0;
      this.#options.placedSince.note(name, now, part - before, split.snapshot.requests);
    }
  }

  #merged(replies: readonly Reply[], split: Split | undefined, more: readonly string[]): Answer {
    const held = replies.filter(isDone).flatMap(({ member, json }): Held[] => {
      if (json === undefined) return [];
      const isCopyForScale = this.#steps.isScale && textAt(json, ["kind"]) !== "Scale";
      return [
        {
          member: member.name,
          object: isCopyForScale ? (scaleView(json) ?? json) : json,
        },
      ];
    });
    const own = replies.find(({ member }) => member.own) ?? replies[0];
    const object = mergedObject(held, this.#write.kind, this.#options.layouts.layout());
    const leftOut = [...this.#leftOut].map(([name, why]) => `cluster ${name} ${why}: it has no copy of this object`);
    const placed = split !== undefined && this.#options.sayPlacement ? [split.verdict.message] : [];
    const theirs = replies.flatMap(({ warnings }) => warnings);
    return jsonAnswer(own?.status ?? 200, object, [...placed, ...leftOut, ...more, ...theirs]);
  }
}

/** A creation goes on without a member that does not answer. */
function isLeftOut({ status }: Reply, { call }: Step): boolean {
  return status === undefined && call.method === "POST";
}

function fine(reply: Reply): Reply {
  return { ...reply, status: 200 };
}

/** Steps that every member agreed to, with what each said, in the same order. */
interface Rehearsal {
  readonly steps: readonly Step[];
  readonly replies: readonly Reply[];
}

/** A member was left out: everything is decided again without it. */
class LeftOut extends Error {}
