import { type Fields, fieldsOr, listOr, omit, textOr } from "../json.ts";
import { invalid, notSimulated, requiredValue } from "../status.ts";
import type { ResourceType } from "../types/resource-type.ts";
import type { Rbac } from "./rbac.ts";
import type { Caller, Users } from "./users.ts";

/** Answers the questions that are asked by creating an object. */
export class Reviews {
  readonly #users: Users;
  readonly #rbac: Rbac;

  constructor(users: Users, rbac: Rbac) {
    this.#users = users;
    this.#rbac = rbac;
  }

  answer(type: ResourceType, review: Fields, caller: Caller): Fields {
    const spec = fieldsOr(review["spec"]);
    const answered = { ...review, metadata: fieldsOr(review["metadata"]) };
    switch (type.kind) {
      case "TokenReview":
        return { ...answered, status: this.#token(type, spec) };
      case "SubjectAccessReview":
        return { ...answered, status: this.#access(type, spec, subjectOf(spec)) };
      case "SelfSubjectAccessReview":
        return { ...answered, status: this.#access(type, spec, caller) };
      case "SelfSubjectReview":
        return { ...answered, status: { userInfo: userInfo(caller) } };
      default:
        throw notSimulated(type.kind);
    }
  }

  #token(type: ResourceType, spec: Fields): Fields {
    const token = textOr(spec["token"]);
    if (token === "") throw invalid(type, "", [requiredValue("spec.token")]);
    const found = this.#users.find(token);
    if (found === undefined) return { user: {}, error: "invalid bearer token" };
    return { authenticated: true, user: userInfo(found) };
  }

  #access(type: ResourceType, spec: Fields, subject: Caller): Fields {
    const path = spec["nonResourceAttributes"];
    const asked = spec["resourceAttributes"];
    if (path === undefined && asked === undefined) {
      throw invalid(type, "", [
        requiredValue(
          "spec.resourceAttributes",
          "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
      ]);
    }
    if (asked === undefined) {
      const { verb, path: at } = fieldsOr(path);
      return { allowed: this.#rbac.allowsPath(subject, { verb: textOr(verb), path: textOr(at) }) };
    }
    const { verb, group, resource, subresource, namespace, name } = fieldsOr(asked);
    const part = textOr(subresource) === "" ? "" : `/${textOr(subresource)}`;
    const named = omit({ namespace: textOr(namespace) || undefined, name: textOr(name) || undefined });
    const attempt = { verb: textOr(verb), group: textOr(group), resource: textOr(resource) + part, ...named };
    return { allowed: this.#rbac.allows(subject, attempt) };
  }
}

function userInfo({ name, uid, groups, extra }: Caller): Fields {
  return omit({ username: name, uid, groups, extra });
}

function subjectOf(spec: Fields): Caller {
  return { name: textOr(spec["user"]), groups: listOr(spec["groups"]).map((group) => textOr(group)) };
}
