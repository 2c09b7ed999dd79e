import type { Fields } from "./json.ts";

/** One reason within a Status; for Invalid it names a field. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** What a Status names besides its message. */
interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** A type or a resource as messages name it: `leases.coordination.k8s.io`. */
interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/**
 * An answer of the API server that is no success: thrown anywhere below the HTTP server, which sends it as a Status.
 */
export class ApiFault extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details;

  constructor(code: number, reason: string, message: string, details: Details = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): Fields {
    return {
      ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: this.message },
      ...{ reason: this.reason, details: this.details, code: this.code },
    };
  }
}

export const qualified = ({ group }: Pick<Named, "group">, name: string): string =>
  group === "" ? name : `${name}.${group}`;

export function notFound(type: Named, name: string): ApiFault {
  const details = { name, group: type.group, kind: type.plural };
  return new ApiFault(404, "NotFound", `${qualified(type, type.plural)} "${name}" not found`, details);
}

export function noSuchPath(): ApiFault {
  return new ApiFault(404, "NotFound", "the server could not find the requested resource");
}

export function methodNotAllowed(): ApiFault {
  return new ApiFault(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

export function alreadyExists(type: Named, name: string): ApiFault {
  const details = { name, group: type.group, kind: type.plural };
  return new ApiFault(409, "AlreadyExists", `${qualified(type, type.plural)} "${name}" already exists`, details);
}

export function conflict(type: Named, name: string, why: string): ApiFault {
  const details = { name, group: type.group, kind: type.plural };
  const message = `Operation cannot be fulfilled on ${qualified(type, type.plural)} "${name}": ${why}`;
  return new ApiFault(409, "Conflict", message, details);
}

export function outdated(type: Named, name: string): ApiFault {
  return conflict(
    type,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}

export function badRequest(message: string): ApiFault {
  return new ApiFault(400, "BadRequest", message);
}

export function forbidden(type: Named, name: string, why: string, causes?: readonly Cause[]): ApiFault {
  const details = { name, group: type.group, kind: type.plural, ...(causes === undefined ? {} : { causes }) };
  const shown = name === "" ? "" : ` "${name}"`;
  return new ApiFault(403, "Forbidden", `${qualified(type, type.plural)}${shown} is forbidden: ${why}`, details);
}

export function invalid(type: Pick<Named, "group" | "kind">, name: string, causes: readonly Cause[]): ApiFault {
  const shown = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const list = shown.length === 1 ? (shown[0] ?? "") : `[${shown.join(", ")}]`;
  const details = { name, group: type.group, kind: type.kind, causes };
  return new ApiFault(422, "Invalid", `${qualified(type, type.kind)} "${name}" is invalid: ${list}`, details);
}

/** A list or watch with options that contradict each other. */
export function invalidOptions(kind: "ListOptions" | "PatchOptions", causes: readonly Cause[]): ApiFault {
  return invalid({ group: "meta.k8s.io", kind }, "", causes);
}

export function expired(message: string): ApiFault {
  return new ApiFault(410, "Expired", message);
}

export function notSimulated(what: string): ApiFault {
  return new ApiFault(501, "NotImplemented", `the embedded API server does not simulate ${what}`);
}

export const requiredValue = (field: string, why = ""): Cause => ({
  ...{ reason: "FieldValueRequired", field, message: `Required value${why === "" ? "" : `: ${why}`}` },
});

export const invalidValue = (field: string, value: unknown, why: string): Cause => ({
  ...{ reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}` },
});

export const forbiddenValue = (field: string, why: string): Cause => ({
  ...{ reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` },
});
