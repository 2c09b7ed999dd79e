import { at, type Json, type Path, sameJson, textAt, without, withValue, writeJson } from "../bodies/json-text.ts";
import { JSON_TYPE } from "../bodies/object-body.ts";
import { VERSION } from "../bodies/patch-body.ts";
import type { Member } from "../members/member.ts";
import { type ApiPath, pathOf } from "./api-path.ts";
import { isDone, type MemberCalls, messageOf, type Reply } from "./member-calls.ts";
import { copyOfHolder, replacing } from "./what-is-copied.ts";

/** On a copy: the cluster that has the original. What lacks it is somebody else's, and is never touched. */
export const COPY_OF = "evenkeel.io/copy-of";

/** On any object in a namespace: every cluster gets a copy. */
export const SPREAD = "evenkeel.io/spread";

/** Secrets that one cluster issues and no other accepts. */
const TOKENS: readonly string[] = ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"];

const MARK: Path = ["metadata", "annotations", COPY_OF];

/** What a cluster adds to an object by itself. */
const OF_THE_CLUSTER: readonly Path[] = [["metadata", "uid"], VERSION, ["metadata", "creationTimestamp"]].concat([
  ["metadata", "generation"],
  ["metadata", "managedFields"],
  ["secrets"],
  ["status"],
]);

export type Copied =
  /** It is there and up to date. */
  | "done"
  /** An object of that name exists that is not a copy of this cluster's. */
  | "namesake"
  /** It must not be copied. */
  | "token"
  /** The member or the caller's rights there did not allow it. */
  | { readonly refused: string };

/** Copies of the own cluster's objects in other clusters, by the rights of the caller. */
export class Copies {
  readonly #calls: MemberCalls;
  readonly #own: Member;

  constructor(calls: MemberCalls, own: Member) {
    this.#calls = calls;
    this.#own = own;
  }

  /** The own cluster's object; undefined if there is none, or it cannot be read. */
  async original(path: ApiPath): Promise<Json | undefined> {
    const reply = await this.#read(this.#own, path);
    return isDone(reply) ? reply.json : undefined;
  }

  /** Whether the own cluster's object is deleted for certain: after a dry run, or without an answer, it is not. */
  async isDeleted(path: ApiPath): Promise<boolean> {
    const { status, json } = await this.#read(this.#own, path);
    return status === 404 || textAt(json, ["metadata", "deletionTimestamp"]) !== undefined;
  }

  /** Creates the copy, or renews it. `onlyRenew` leaves a cluster alone that has none. */
  async put(member: Member, path: ApiPath, original: Json, onlyRenew = false): Promise<Copied> {
    if (TOKENS.includes(textAt(original, ["type"]) ?? "")) return "token";
    const kind = textAt(original, ["kind"]) ?? "";
    const copy = withValue(copyOfHolder(kind, without(original, ["secrets"])), MARK, this.#own.name);
    const found = await this.#read(member, path);
    if (found.status === 404) {
      if (onlyRenew) return "done";
      const query = { ...path, name: undefined };
      const made = await this.#calls.call(member, { method: "POST", path: pathOf(query), ...encoded(copy) });
      return isDone(made) ? "done" : { refused: messageOf(made) };
    }
    if (!isDone(found) || found.json === undefined) return { refused: messageOf(found) };
    if (!this.isCopy(found.json)) return "namesake";
    const wanted = replacing(kind, copy, found.json);
    if (sameJson(OF_THE_CLUSTER.reduce(without, found.json), OF_THE_CLUSTER.reduce(without, wanted))) return "done";
    const kept = at(found.json, ["secrets"]);
    const renewed = withValue(wanted, VERSION, textAt(found.json, VERSION) ?? "");
    const body = kept === undefined ? renewed : withValue(renewed, ["secrets"], kept);
    const written = await this.#calls.call(member, { method: "PUT", path: pathOf(path), ...encoded(body) });
    return isDone(written) ? "done" : { refused: messageOf(written) };
  }

  /** Deletes the copy, if it was made for that reason. What is not a copy stays. */
  async remove(member: Member, path: ApiPath, made: "to spread" | "for workloads"): Promise<void> {
    const found = await this.#read(member, path);
    if (!isDone(found) || found.json === undefined || !this.isCopy(found.json)) return;
    const isSpread = textAt(found.json, ["metadata", "annotations", SPREAD]) === "true";
    if (isSpread !== (made === "to spread")) return;
    const preconditions = { uid: textAt(found.json, ["metadata", "uid"]) ?? "" };
    const options = { kind: "DeleteOptions", apiVersion: "v1", preconditions };
    await this.#calls.call(member, { method: "DELETE", path: pathOf(path), ...encoded(options) });
  }

  isCopy(object: Json): boolean {
    return textAt(object, MARK) === this.#own.name;
  }

  async #read(member: Member, path: ApiPath): Promise<Reply> {
    return this.#calls.call(member, { method: "GET", path: pathOf({ ...path, subresource: undefined }) });
  }
}

function encoded(json: Json): { readonly contentType: string; readonly body: Buffer } {
  return { contentType: JSON_TYPE, body: Buffer.from(writeJson(json)) };
}
