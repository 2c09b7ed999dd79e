import type { Json } from "../bodies/json-text.ts";
import { numberAt, textAt } from "../bodies/json-text.ts";
import { REPLICAS } from "../bodies/patch-body.ts";
import type { Member } from "../members/member.ts";
import { FollowedReferences, isFollowed, lackText, type Referring } from "./followed-references.ts";
import { isDone, type MemberCalls, type Reply } from "./member-calls.ts";
import type { ManyWrite, Plan } from "./member-steps.ts";
import type { AnswersOptions } from "./options.ts";
import { keyOf, referencesOf } from "./references.ts";
import { isDivided } from "./verb-table.ts";

/**
 * What the pods of one written workload name: looked for in the clusters that run some, and copied if it is followed.
 */
export class WorkloadReferences {
  readonly #follow: FollowedReferences | undefined;
  readonly #after: Referring;
  /** Members that have pods of it after the write. */
  readonly #running: readonly Member[];
  readonly #isFollowed: boolean;

  /** `agreed` has each member's object after the write, as its dry run shows it. */
  constructor(options: AnswersOptions, calls: MemberCalls, write: ManyWrite, plan: Plan, agreed: readonly Reply[]) {
    const { path, kind, change } = write;
    const own = options.members.own();
    const held = plan.held.get(own?.name ?? "");
    const name = textAt(change.view, ["metadata", "name"]) ?? path.name ?? "";
    const reply = agreed.find((one) => one.member.own && isDone(one));
    const isScale = path.subresource === "scale";
    const object = isScale ? held : reply?.json;
    this.#after = { path, name, object };
    this.#running = options.members.all().filter((member) => partOf(member, plan, agreed) > 0);
    this.#isFollowed = isFollowed(object, options.followReferences);
    const isAsked = plan.split !== undefined || !isSame(held, object);
    this.#follow = isDivided(kind) && isAsked && own !== undefined ? new FollowedReferences(calls, own) : undefined;
  }

  /** A Warning for each member that lacks something. Followed references are not missing for long. */
  async lacking(): Promise<readonly string[]> {
    if (this.#follow === undefined) return [];
    const asked = this.#isFollowed ? this.#running.filter(({ own }) => own) : this.#running;
    const lacks = await this.#follow.lacking(this.#after, asked);
    return lacks.map((lack) => lackText(this.#after.name, lack));
  }

  /**
   * After the write: copies what is followed. What is no longer named stays, because pods of the former template may
   * need it. Returns all Warnings.
   */
  async settle(warnings: readonly string[]): Promise<readonly string[]> {
    if (this.#follow === undefined) return warnings;
    const targets = this.#running.filter(({ own }) => !own);
    const faults = this.#isFollowed ? await this.#follow.copy(this.#after, targets) : [];
    return [...warnings, ...faults.map((fault) => `${this.#after.name}: ${fault}`)];
  }
}

function partOf({ name }: Member, { split, held }: Plan, agreed: readonly Reply[]): number {
  const reply = agreed.find(({ member }) => member.name === name);
  return split?.parts.get(name) ?? numberAt(reply?.json, REPLICAS) ?? numberAt(held.get(name), REPLICAS) ?? 0;
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  const keys = (json: Json | undefined): string => referencesOf(json).map(keyOf).join();
  return keys(one) === keys(other);
}
