import { Refused } from "./refused.ts";

/** The service's JSON API as views and pages use it. Every address is relative to the page. */
export interface Api {
  /** Calls a method that changes nothing: `get("Weights/Get", { namespace: "shop" })`. */
  get<T>(method: string, query?: Readonly<Record<string, string | number>>, signal?: AbortSignal): Promise<T>;
  /** Calls a method that changes nothing and whose request is no flat list of fields. */
  ask<T>(method: string, request: unknown, signal?: AbortSignal): Promise<T>;
  /** Calls a method that may change something, with the caller's token. */
  act<T>(method: string, request: unknown, token: string): Promise<T>;
  /** The address of a method, for links and streams. */
  address(method: string, query?: Readonly<Record<string, string | number>>): string;
}

/** How long a call may take, in milliseconds. */
const DEADLINE = 10_000;

/** `root` is the address that `/api/v1/…` is under, with a slash at the end. */
export class JsonApi implements Api {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  get<T>(method: string, query: Readonly<Record<string, string | number>> = {}, signal?: AbortSignal): Promise<T> {
    return call<T>(this.address(method, query), {}, signal);
  }

  ask<T>(method: string, request: unknown, signal?: AbortSignal): Promise<T> {
    return call<T>(this.address(method), posting(request), signal);
  }

  act<T>(method: string, request: unknown, token: string): Promise<T> {
    return call<T>(this.address(method), posting(request, { authorization: `Bearer ${token}` }));
  }

  address(method: string, query: Readonly<Record<string, string | number>> = {}): string {
    const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return `${this.#root}api/v1/${method}${parameters.size > 0 ? `?${parameters.toString()}` : ""}`;
  }
}

function posting(request: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(request),
  };
}

async function call<T>(address: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
  const deadline = AbortSignal.timeout(DEADLINE);
  const response = await fetch(address, { ...init, signal: signal ? AbortSignal.any([signal, deadline]) : deadline });
  if (!response.ok) throw await Refused.of(response);
  return (await response.json()) as T;
}
