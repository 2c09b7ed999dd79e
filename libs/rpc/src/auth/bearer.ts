import { CodedError } from "@evenkeel/runtime";
import { CannotAuthorize, Forbidden, Unauthenticated } from "../errors.ts";
import { type AccessObject, accessText, type Authorizer } from "./authorizer.ts";

/** What a caller must be allowed to do. */
export interface Permission {
  readonly verb: string;
  readonly object: AccessObject;
}

/**
 * Resolves if the bearer token in the header `authorization` has the permission; rejects with Unauthenticated,
 * Forbidden or CannotAuthorize. Without an authorizer no caller has it.
 */
export async function authorizeBearer(
  authorizer: Authorizer | undefined,
  method: string,
  { verb, object }: Permission,
  authorization: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!authorizer) throw new CannotAuthorize({ method });
  const [, token] = /^Bearer +([\w.~+/=-]{1,16384})$/i.exec(authorization ?? "") ?? [];
  if (token === undefined) throw new Unauthenticated({ method });
  const { allowed, user } = await authorizer.authorize(token, verb, object, signal).catch((cause: unknown) => {
    throw cause instanceof CodedError ? cause : new CannotAuthorize({ method }, { cause });
  });
  if (allowed) return;
  if (user === undefined) throw new Unauthenticated({ method });
  throw new Forbidden({ user, verb, object: accessText(object) });
}
