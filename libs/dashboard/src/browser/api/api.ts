import { type Access, authorization } from "./access.ts";
import { Refused } from "./refused.ts";

/** The service's JSON API as views and pages use it. Every address is relative to the page. */
export interface Api {
  /** Calls a method that changes nothing: `get("Weights/Get", { namespace: "shop" })`. */
  get<T>(method: string, query?: Readonly<Record<string, string | number>>, signal?: AbortSignal): Promise<T>;
  /** Calls a read-only method with a nested request. */
  ask<T>(method: string, request: unknown, signal?: AbortSignal): Promise<T>;
  /** Calls a method that may change something, with this token; empty for none. */
  act<T>(method: string, request: unknown, token: string): Promise<T>;
  /** The file that a method answers with. */
  file(method: string, query: Readonly<Record<string, string | number>>): Promise<Blob>;
  /** The address of a method, for streams. */
  address(method: string, query?: Readonly<Record<string, string | number>>): string;
}

/** Maximum milliseconds of a call. */
const DEADLINE = 10_000;

/** `root` is the address that `/api/v1/…` is under, with a slash at the end. */
export class JsonApi implements Api {
  readonly #root: string;
  readonly #access: Access;

  constructor(root: string, access: Access) {
    this.#root = root;
    this.#access = access;
  }

  get<T>(method: string, query: Readonly<Record<string, string | number>> = {}, signal?: AbortSignal): Promise<T> {
    return call<T>(this.address(method, query), { headers: this.#access.headers }, signal);
  }

  ask<T>(method: string, request: unknown, signal?: AbortSignal): Promise<T> {
    return call<T>(this.address(method), posting(request, this.#access.headers), signal);
  }

  act<T>(method: string, request: unknown, token: string): Promise<T> {
    return call<T>(this.address(method), posting(request, authorization(token)));
  }

  async file(method: string, query: Readonly<Record<string, string | number>>): Promise<Blob> {
    return (await fetched(this.address(method, query), { headers: this.#access.headers })).blob();
  }

  address(method: string, query: Readonly<Record<string, string | number>> = {}): string {
    const parameters = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    return `${this.#root}api/v1/${method}${parameters.size > 0 ? `?${parameters.toString()}` : ""}`;
  }
}

function posting(request: unknown, headers: Readonly<Record<string, string>>): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(request),
  };
}

async function call<T>(address: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
  return (await (await fetched(address, init, signal)).json()) as T;
}

async function fetched(address: string, init: RequestInit, signal?: AbortSignal): Promise<Response> {
  const deadline = AbortSignal.timeout(DEADLINE);
  const response = await fetch(address, { ...init, signal: signal ? AbortSignal.any([signal, deadline]) : deadline });
  if (!response.ok) throw await Refused.of(response);
  return response;
}
