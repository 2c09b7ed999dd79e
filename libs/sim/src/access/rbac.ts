import { type Fields, fieldsOr, isFields, listOr, textOr } from "../json.ts";
import type { Store } from "../storage/store.ts";
import { AUTHENTICATED, type Caller, MASTERS } from "./users.ts";

/** What someone wants to do. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  /** Plural, with `/` and the subresource if it is one. */
  readonly resource: string;
  /** All namespaces, or none, when absent. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** A path that is no resource. */
export interface PathAttempt {
  readonly verb: string;
  readonly path: string;
}

const GROUP = "rbac.authorization.k8s.io";

/** What everybody may ask about themselves, by the built-in role `system:basic-user`. */
const SELF_REVIEWS = new Set(["selfsubjectreviews", "selfsubjectaccessreviews"]);

/** Who may do what, by the roles and bindings in the store as they are now. */
export class Rbac {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  allows(caller: Caller, attempt: Attempt): boolean {
    const everybody = caller.groups.includes(AUTHENTICATED) && attempt.verb === "create";
    return (
      caller.groups.includes(MASTERS) ||
      (everybody && SELF_REVIEWS.has(attempt.resource)) ||
      this.#rules(caller, attempt.namespace).some((rule) => covers(rule, attempt))
    );
  }

  allowsPath(caller: Caller, { verb, path }: PathAttempt): boolean {
    if (caller.groups.includes(MASTERS)) return true;
    return this.#rules(caller, undefined).some((rule) => {
      const fits = (url: unknown): boolean =>
        url === "*" || url === path || (textOr(url).endsWith("*") && path.startsWith(textOr(url).slice(0, -1)));
      return among(rule["verbs"], verb) && listOr(rule["nonResourceURLs"]).some(fits);
    });
  }

  /** The rules that bind a caller everywhere, and those of a namespace. */
  #rules(caller: Caller, namespace: string | undefined): Fields[] {
    const everywhere = this.#objects("clusterrolebindings").filter((binding) => binds(binding, caller));
    const here =
      namespace === undefined
        ? []
        : this.#objects("rolebindings").filter(
            (binding) => namespaceOf(binding) === namespace && binds(binding, caller),
          );
    return [
      ...everywhere.flatMap((binding) => this.#granted(binding, undefined)),
      ...here.flatMap((binding) => this.#granted(binding, namespace)),
    ];
  }

  #granted(binding: Fields, namespace: string | undefined): Fields[] {
    const { kind, name } = fieldsOr(binding["roleRef"]);
    const key = kind === "Role" ? `${namespace ?? ""}/${textOr(name)}` : textOr(name);
    const role = this.#store.table(`${GROUP}/${kind === "Role" ? "roles" : "clusterroles"}`).get(key);
    return listOr(role?.["rules"]).filter(isFields);
  }

  #objects(plural: string): readonly Fields[] {
    return this.#store.table(`${GROUP}/${plural}`).objects();
  }
}

const among = (list: unknown, value: string): boolean => listOr(list).includes("*") || listOr(list).includes(value);

function covers(rule: Fields, { verb, group, resource, name }: Attempt): boolean {
  const part = /\/(.+)$/.exec(resource)?.[1];
  const names = listOr(rule["resourceNames"]);
  return (
    among(rule["verbs"], verb) &&
    among(rule["apiGroups"], group) &&
    (among(rule["resources"], resource) || (part !== undefined && listOr(rule["resources"]).includes(`*/${part}`))) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

function namespaceOf(object: Fields): string {
  return textOr(fieldsOr(object["metadata"])["namespace"]);
}

function binds(binding: Fields, { name, groups }: Caller): boolean {
  return listOr(binding["subjects"])
    .filter(isFields)
    .some((subject) => {
      if (subject["kind"] === "User") return subject["name"] === name;
      if (subject["kind"] === "Group") return groups.includes(textOr(subject["name"]));
      const namespace = textOr(subject["namespace"], namespaceOf(binding));
      return (
        subject["kind"] === "ServiceAccount" && name === `system:serviceaccount:${namespace}:${textOr(subject["name"])}`
      );
    });
}
