import type { ObjectRef } from "@evenkeel/runtime";
import { WrongUsage } from "./errors.ts";
import type { DecidedKind, Registration } from "./services/registration.ts";

/** An object as a user names it, and the service that decides about it if the kind is registered. */
export interface NamedObject {
  readonly object: ObjectRef;
  readonly registration: Registration | undefined;
}

/**
 * Parses `rebalance/shop/checkout`, or in two words `rebalance shop/checkout`, as in kubectl. A registered kind may
 * have any case and may be plural, and `namespace` is its default namespace. Other kinds are used as written.
 */
export function namedObject(
  words: readonly string[],
  registrations: readonly Registration[],
  namespace: string | undefined,
): NamedObject {
  const parts = words.join("/").split("/");
  const [kind = "", ...rest] = parts;
  if (words.length > 2 || rest.length === 0 || rest.length > 2 || parts.includes("")) {
    throw new WrongUsage({ fault: `${words.join(" ")} is not <kind>/<namespace>/<name>` });
  }
  const found = registeredKind(kind, registrations);
  const name = rest.at(-1) ?? "";
  const within = rest.length === 2 ? rest[0] : namespace;
  if (found === undefined) {
    return { object: { kind, name, ...(within !== undefined && { namespace: within }) }, registration: undefined };
  }
  const { registration, decided } = found;
  if (decided.scope === "Cluster") {
    if (rest.length === 2) throw new WrongUsage({ fault: `${decided.kind} has no namespace` });
    return { object: { kind: decided.kind, name }, registration };
  }
  if (within === undefined) {
    throw new WrongUsage({ fault: `${decided.kind} ${name} needs a namespace: ${kind}/<namespace>/${name}, or -n` });
  }
  return { object: { kind: decided.kind, namespace: within, name }, registration };
}

function registeredKind(
  word: string,
  registrations: readonly Registration[],
): { readonly registration: Registration; readonly decided: DecidedKind } | undefined {
  const wanted = word.toLowerCase();
  for (const registration of registrations) {
    const decided = registration.kinds.find(({ kind, plural }) => [kind.toLowerCase(), plural].includes(wanted));
    if (decided !== undefined) return { registration, decided };
  }
  return undefined;
}
