import * as errors from "../errors.ts";
import type { Refusal, RefusalClass, RefusalDetails, StatusCause } from "./refusal.ts";

/** Characters of a server's message that are passed on. */
const MESSAGE_LIMIT = 2000;

/** A response that is not a success. */
export interface Answer {
  readonly status: number;
  /** The Retry-After header. */
  readonly retryAfter?: string | undefined;
  readonly body: string;
}

type Refusals = RefusalClass<`${string}{call}${string}{message}${string}`>;

/** By the reason of the Status, which is more precise than the HTTP status. */
const byReason: Readonly<Record<string, Refusals>> = {
  BadRequest: errors.BadRequest,
  Unauthorized: errors.Unauthorized,
  Forbidden: errors.Forbidden,
  NotFound: errors.NotFound,
  MethodNotAllowed: errors.MethodNotAllowed,
  AlreadyExists: errors.AlreadyExists,
  Conflict: errors.Conflict,
  Gone: errors.Gone,
  Expired: errors.Gone,
  RequestEntityTooLarge: errors.TooLarge,
  UnsupportedMediaType: errors.UnsupportedMediaType,
  NotAcceptable: errors.UnsupportedMediaType,
  Invalid: errors.Invalid,
  TooManyRequests: errors.TooManyRequests,
  ServerTimeout: errors.ServerTimeout,
  Timeout: errors.ServerTimeout,
  ServiceUnavailable: errors.ServerUnavailable,
  InternalError: errors.ServerFault,
};

const byStatus: Readonly<Record<number, Refusals>> = {
  400: errors.BadRequest,
  401: errors.Unauthorized,
  403: errors.Forbidden,
  404: errors.NotFound,
  405: errors.MethodNotAllowed,
  406: errors.UnsupportedMediaType,
  409: errors.Conflict,
  410: errors.Gone,
  413: errors.TooLarge,
  415: errors.UnsupportedMediaType,
  422: errors.Invalid,
  429: errors.TooManyRequests,
  500: errors.ServerFault,
  502: errors.ServerUnavailable,
  503: errors.ServerUnavailable,
  504: errors.ServerTimeout,
};

/** The error for a response, which may come from a load balancer and not be a Status. */
export function refusal(call: string, answer: Answer): Refusal {
  const status = parseStatus(answer.body);
  const details = detailsOf(status, answer);
  const Class = classOf(details);
  const message = oneLine(textOf(status["message"]) || (isEmpty(status) ? answer.body : "") || "no reason given");
  return new Class({ call, message: Class === errors.Refused ? `${answer.status}: ${message}` : message }, details);
}

/** The error for a Status in a watch event. */
export function refusalOfStatus(call: string, status: unknown): Refusal {
  const code = isObject(status) && typeof status["code"] === "number" ? status["code"] : 500;
  return refusal(call, { status: code, body: JSON.stringify(status) });
}

function classOf({ status, reason, causes }: RefusalDetails): Refusals {
  const caused = (by: string): boolean => causes.some((cause) => cause.reason === by);
  if (status === 409 && caused("FieldManagerConflict")) return errors.FieldConflict;
  if (status === 429 && caused("DisruptionBudget")) return errors.EvictionBlocked;
  if (caused("ResourceVersionTooLarge")) return errors.ResourceVersionTooLarge;
  return byReason[reason] ?? byStatus[status] ?? errors.Refused;
}

function detailsOf(status: Readonly<Record<string, unknown>>, answer: Answer): RefusalDetails {
  const details = isObject(status["details"]) ? status["details"] : {};
  const causes = Array.isArray(details["causes"]) ? details["causes"].filter(isObject).map(causeOf) : [];
  const seconds = retryAfterSeconds(answer.retryAfter) ?? numberOf(details["retryAfterSeconds"]);
  return {
    status: answer.status,
    reason: textOf(status["reason"]),
    causes,
    retryAfter: seconds === undefined ? undefined : seconds * 1000,
    text: isEmpty(status) ? answer.body : undefined,
  };
}

function causeOf(cause: Readonly<Record<string, unknown>>): StatusCause {
  const field = textOf(cause["field"]);
  const named = field === "" ? {} : { field: oneLine(field) };
  return { reason: oneLine(textOf(cause["reason"])), message: oneLine(textOf(cause["message"])), ...named };
}

/** Seconds; Kubernetes sends no dates here. */
function retryAfterSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function parseStatus(body: string): Readonly<Record<string, unknown>> {
  try {
    const status: unknown = JSON.parse(body);
    return isObject(status) && status["kind"] === "Status" ? status : {};
  } catch {
    return {};
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

/** Foreign text as one line of bounded length, without what looks like a token. */
export function oneLine(text: string): string {
  const line = text
    .slice(0, MESSAGE_LIMIT * 4)
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{4,}/gi, "$1 [masked]")
    .replaceAll(/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, "[masked]")
    // eslint-disable-next-line no-control-regex -- foreign control characters must not reach a terminal
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\s]+/g, " ")
    .trim();
  return line.length > MESSAGE_LIMIT ? `${line.slice(0, MESSAGE_LIMIT)}…` : line;
}
