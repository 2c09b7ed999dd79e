import { inspect } from "node:util";

/** Whether trying again may help, without anything else being changed. */
export type Recovery = "retryable" | "terminal";

/** One line of an error catalogue. `message` holds `{fields}` that the thrower fills in. */
export interface ErrorEntry<Message extends string = string> {
  readonly code: `EK_${string}`;
  readonly recovery: Recovery;
  readonly message: Message;
  /** What the reader can do about it; shown in the reference, where each code has an anchor. */
  readonly remedy: string;
}

type FieldNames<Message extends string> = Message extends `${string}{${infer Name}}${infer Rest}`
  ? Name | FieldNames<Rest>
  : never;

export type ErrorFields<Message extends string> = { readonly [Name in FieldNames<Message>]: string | number };

/** The base of all errors with a code. Users read codes and tests assert them; messages may be reworded. */
export class CodedError extends Error {
  readonly code: string;
  readonly recovery: Recovery;

  constructor(entry: ErrorEntry, fields: Readonly<Record<string, string | number>>, options?: ErrorOptions) {
    super(
      entry.message.replace(/\{(\w+)\}/g, (_whole, name: string) => String(fields[name])),
      options,
    );
    this.code = entry.code;
    this.recovery = entry.recovery;
    this.name = entry.code;
  }
}

export interface CodedErrorClass<Message extends string = string> {
  new (fields: ErrorFields<Message>, options?: ErrorOptions): CodedError;
  readonly entry: ErrorEntry<Message>;
}

/** Makes the class of one catalogue entry. Wrap what led to it with `{ cause }`; it is logged with the error. */
export function defineError<const Message extends string>(entry: ErrorEntry<Message>): CodedErrorClass<Message> {
  return class extends CodedError {
    static readonly entry = entry;

    constructor(fields: ErrorFields<Message>, options?: ErrorOptions) {
      super(entry, fields, options);
    }
  };
}

/**
 * True for errors that the catalogue marks as retryable. An error without a code is a defect or a surprise and is not
 * retried.
 */
export function isRetryable(error: unknown): boolean {
  return error instanceof CodedError && error.recovery === "retryable";
}

/**
 * True for what inherits from Error, as fastify's errors do, and for errors of another realm, as those of Node's core
 * in a `vm` are.
 */
export function isError(thrown: unknown): thrown is Error {
  // Error.isError is in Node 24, and in the library that TypeScript calls esnext; the workspace compiles against
  // es2024.
  return thrown instanceof Error || (Error as unknown as { isError(value: unknown): boolean }).isError(thrown);
}

/** An Error for whatever was thrown. */
export function toError(thrown: unknown): Error {
  if (isError(thrown)) return thrown;
  return new Error(typeof thrown === "string" ? thrown : inspect(thrown));
}

/** What was thrown, what led to it, and so on; cut where it is longer than anyone reads, or goes in a circle. */
export function chainOf(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let link = thrown; link !== undefined && chain.length < 8; link = isError(link) ? link.cause : undefined) {
    chain.push(link);
  }
  return chain;
}

/** The message of an error and of its causes, on one line. */
export function explain(thrown: unknown): string {
  return chainOf(thrown)
    .map((link) => messageOf(toError(link)).replaceAll(/\s+/g, " "))
    .join(": ");
}

/** Node reports a connection that was refused on every address as several errors below an empty message. */
function messageOf(error: Error & { readonly errors?: unknown }): string {
  const parts = Array.isArray(error.errors) ? error.errors.map((part) => toError(part).message) : [];
  return [error.message, parts.join("; ")].filter((text) => text !== "").join(": ") || error.name;
}
