import { at, type Json, listAt, textAt } from "../bodies/json-text.ts";
import type { Member } from "../members/member.ts";
import { type ApiPath, pathOf } from "./api-path.ts";
import { Copies } from "./copies.ts";
import { isDone, type MemberCalls } from "./member-calls.ts";
import { FOLLOW, keyOf, pathOfReference, type Reference, referencesOf } from "./references.ts";

/** A workload whose pods name objects. */
export interface Referring {
  readonly path: ApiPath;
  readonly name: string;
  /** The workload as it is after the write; before it, for a DELETE. */
  readonly object: Json | undefined;
}

export interface Lack {
  readonly member: Member;
  readonly references: readonly Reference[];
}

/** Whether what a workload names is copied. The annotation decides before the setting. */
export function isFollowed(object: Json | undefined, byDefault: boolean): boolean {
  const said = textAt(object, ["metadata", "annotations", FOLLOW]);
  return said === undefined ? byDefault : said === "true";
}

/** What the pods of workloads name, in the clusters where they run. Everything is done by the rights of the caller. */
export class FollowedReferences {
  readonly #calls: MemberCalls;
  readonly #own: Member;
  readonly #copies: Copies;

  constructor(calls: MemberCalls, own: Member) {
    this.#calls = calls;
    this.#own = own;
    this.#copies = new Copies(calls, own);
  }

  /** What members lack of what a workload names. What the caller may not read there is not reported. */
  async lacking({ object, path }: Referring, members: readonly Member[]): Promise<readonly Lack[]> {
    const references = referencesOf(object);
    const lacks = await Promise.all(
      members.map(async (member) => {
        const replies = await Promise.all(
          references.map(async (reference) => {
            const place = pathOf(pathOfReference(reference, path.namespace));
            return (await this.#calls.call(member, { method: "GET", path: place })).status;
          }),
        );
        return { member, references: references.filter((_one, index) => replies[index] === 404) };
      }),
    );
    return lacks.filter((lack) => lack.references.length > 0);
  }

  /** Copies to the members what the own cluster has. Returns what could not be copied. */
  async copy({ object, path }: Referring, members: readonly Member[]): Promise<readonly string[]> {
    const faults = await Promise.all(
      referencesOf(object).map(async (reference) => {
        const place = pathOfReference(reference, path.namespace);
        const original = await this.#copies.original(place);
        if (original === undefined) return [];
        return Promise.all(
          members.map(async (member) => {
            const copied = await this.#copies.put(member, place, original);
            return typeof copied === "string" ? [] : [`cluster ${member.name}: ${keyOf(reference)}: ${copied.refused}`];
          }),
        );
      }),
    );
    return faults.flat(2);
  }

  /**
   * What the pods of a workload name, and those of its former templates, as far as the own cluster keeps these and the
   * caller may list them.
   */
  async named({ object, path }: Referring): Promise<readonly Reference[]> {
    const resource = path.resource === "deployments" ? "replicasets" : "controllerrevisions";
    const place = pathOf({ ...path, resource, name: undefined, subresource: undefined });
    const { json } = await this.#calls.call(this.#own, { method: "GET", path: place });
    const uid = textAt(object, ["metadata", "uid"]);
    const isOf = (one: Json): boolean =>
      listAt(one, ["metadata", "ownerReferences"]).some((owner) => textAt(owner, ["uid"]) === uid);
    const former = listAt(json, ["items"]).filter(isOf);
    const all = [object, ...former, ...former.map((one) => at(one, ["data"]))].flatMap(referencesOf);
    return [...new Map(all.map((one) => [keyOf(one), one])).values()];
  }

  /** Deletes copies of what a deleted workload named, where no other workload names them. */
  async release(deleted: Referring, named: readonly Reference[], members: readonly Member[]): Promise<void> {
    if (named.length === 0) return;
    await Promise.all(
      members.map(async (member) => {
        const needed = await this.#neededBy(member, deleted);
        const free = named.filter((one) => needed !== undefined && !needed.has(keyOf(one)));
        await Promise.all(
          free.map(async (one) =>
            this.#copies.remove(member, pathOfReference(one, deleted.path.namespace), "for workloads"),
          ),
        );
      }),
    );
  }

  /** What the other workloads of the namespace name; undefined if that cannot be told. */
  async #neededBy(member: Member, { path, name }: Referring): Promise<ReadonlySet<string> | undefined> {
    const lists = await Promise.all(
      ["deployments", "statefulsets"].map(async (resource) => {
        const place = pathOf({
          ...path,
          group: "apps",
          version: "v1",
          resource,
          name: undefined,
          subresource: undefined,
        });
        const reply = await this.#calls.call(member, { method: "GET", path: place });
        if (!isDone(reply)) return undefined;
        const isSame = (one: Json): boolean => resource === path.resource && textAt(one, ["metadata", "name"]) === name;
        return listAt(reply.json, ["items"]).filter((one) => !isSame(one));
      }),
    );
    if (lists.some((list) => list === undefined)) return undefined;
    return new Set(lists.flatMap((list) => list ?? []).flatMap((one) => referencesOf(one).map(keyOf)));
  }
}

/** `web: cluster b lacks ConfigMap settings, Secret db: its pods there do not start until they exist` */
export function lackText(name: string, { member, references }: Lack): string {
  const what = references.map(keyOf).join(", ");
  return `${name}: cluster ${member.name} lacks ${what}: pods there do not start until it exists; to have it copied set ${FOLLOW}: true`;
}
