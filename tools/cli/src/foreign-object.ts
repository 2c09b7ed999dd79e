import type { ObjectRef } from "@evenkeel/runtime";
import { WrongUsage } from "./errors.ts";
import type { ForeignKind, Registration } from "./services/registration.ts";

/** A kind of Kubernetes that a service knows something about. */
export interface FoundForeign {
  readonly registration: Registration;
  readonly kind: ForeignKind;
}

/** The service that knows objects of this kind, although the kind is not its own; `word` is as the user writes it. */
export function foreignKind(word: string, registrations: readonly Registration[]): FoundForeign | undefined {
  const wanted = word.toLowerCase();
  for (const registration of registrations) {
    const kind = registration.foreign?.kinds.find(({ words }) => words.includes(wanted));
    if (kind !== undefined) return { registration, kind };
  }
  return undefined;
}

/** The object with the kind as its service names it. `presentNamespace` is that of the kubeconfig. */
export async function foreignObject(
  object: ObjectRef,
  { registration, kind: { kind } }: FoundForeign,
  presentNamespace: () => Promise<string>,
): Promise<ObjectRef> {
  if (object.namespace !== undefined) return { ...object, kind };
  if (registration.foreign?.needsNamespace === true) {
    throw new WrongUsage({
      fault: `${kind} ${object.name} needs a namespace: ${kind}/<namespace>/${object.name}, or -n`,
    });
  }
  return { ...object, kind, namespace: await presentNamespace() };
}
