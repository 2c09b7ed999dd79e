import type { AccessObject, Authorizer } from "./authorizer.ts";
import { authorizeBearer } from "./bearer.ts";

/** Who may read on the admin port. */
export interface ReadAccess {
  /** `token`: callers need a bearer token with read access to the objects. The setting `readAccess`. */
  readonly reads: "open" | "token";
  /** The objects that answers are about. Those of a kind without namespaces are checked without one. */
  readonly objects: readonly (Pick<AccessObject, "group" | "resource"> & { readonly namespaced?: boolean })[];
  /** The namespaces that the service watches; all if absent or empty. */
  readonly namespaces?: readonly string[] | undefined;
}

/** What a request asks about: one object, a namespace, or everything. */
export interface Asked {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Checks that the holder of a token may read what they ask for: `get` for one object, `list` for more. */
export class ReadCheck {
  readonly #access: ReadAccess;
  readonly #authorizer: Authorizer | undefined;

  constructor(access: ReadAccess, authorizer: Authorizer | undefined) {
    if (access.objects.length === 0) throw new TypeError("reads by token need objects that tokens are checked by");
    this.#access = access;
    this.#authorizer = authorizer;
  }

  /** Rejects with Unauthenticated, Forbidden or CannotAuthorize. `authorization` is the header. */
  async check(method: string, authorization: string | undefined, asked: Asked, signal: AbortSignal): Promise<void> {
    const { objects, namespaces = [] } = this.#access;
    const everywhere = namespaces.length > 0 ? namespaces : [undefined];
    const verb = asked.name === undefined ? "list" : "get";
    for (const { namespaced = true, ...object } of objects) {
      if (!namespaced) {
        // What a request names is then something else, such as a pod.
        await authorizeBearer(this.#authorizer, method, { verb: "list", object }, authorization, signal);
        continue;
      }
      for (const namespace of asked.namespace === undefined ? everywhere : [asked.namespace]) {
        const { name } = asked;
        const place = { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
        const permission = { verb, object: { ...object, ...place } };
        await authorizeBearer(this.#authorizer, method, permission, authorization, signal);
      }
    }
  }
}

/**
 * What a request asks about. Requests of all services name it in one of three ways, and are answered with nothing else:
 * by the fields `namespace` and `name`, by a message with these fields, or by `object` as `Kind/namespace/name`.
 * Anything else asks for everything.
 */
export function askedOf(request: unknown): Asked {
  const fields = request as Readonly<Record<string, unknown>>;
  const [only, ...others] = [fields, ...Object.values(fields)].map(named).filter((asked) => asked !== undefined);
  if (only && others.length === 0) return only;
  const [, namespace, name] = /^[^/]+\/([^/]+)\/([^/]+)$/.exec(text(fields["object"]) ?? "") ?? [];
  return only || namespace === undefined ? {} : { namespace, name };
}

function named(value: unknown): Asked | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const namespace = text(fields["namespace"]);
  return namespace === undefined ? undefined : { namespace, name: text(fields["name"]) };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
