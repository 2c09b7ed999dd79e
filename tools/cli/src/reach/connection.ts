import type { Readable } from "node:stream";

export interface ServiceRequest {
  readonly method?: "GET" | "POST";
  /** Begins with `/`, as on the admin port. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly accept?: string;
  readonly signal: AbortSignal;
}

/**
 * A connection to the admin port of one service. `send` resolves with the unread body of a success. It rejects with
 * Refused if the service responds with an error, with NotInstalled if it does not exist, and with another coded error
 * if it does not respond.
 */
export interface Connection {
  /** The name of the service in messages. */
  readonly place: string;
  send(request: ServiceRequest): Promise<Readable>;
  close(): Promise<void> | void;
}

/** The path with its query. */
export function targetOf({ path, query = {} }: ServiceRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}
