import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, sleep, systemClock } from "@evenkeel/runtime";
import type { Faults } from "./api-server.ts";
import { ApiFault } from "./status.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/**
 * What goes wrong. `latency` delays the request and then lets it through; `hang` never answers; `reset` breaks the
 * connection; `status` answers in the server's place, with a Status as kube-apiserver words it.
 */
export type Fault =
  | { readonly kind: "latency"; readonly milliseconds: number }
  | { readonly kind: "hang" }
  | { readonly kind: "reset" }
  | { readonly kind: "status"; readonly code: keyof typeof worded; readonly retryAfterSeconds?: number };

/** Which requests a fault hits: those that fit all that is said. */
export interface FaultRule {
  readonly fault: Fault;
  readonly verb?: Verb;
  /** The plural, such as `pods`. */
  readonly resource?: string;
  /** The object's name. A list, a watch and a creation have none. */
  readonly name?: string;
  /** Such as `status`; empty for the object itself. Both unless told. */
  readonly subresource?: string;
  /** How many requests it hits before it is over; all of them unless told. */
  readonly times?: number;
  /** The share of requests it hits, from 0 to 1. */
  readonly share?: number;
}

/** Rules that a test adds and takes back while the server runs. Of several that fit, the first added applies. */
export class FaultPlan {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #rules = new Set<{ readonly rule: FaultRule; left: number }>();

  constructor(clock: Clock = systemClock, random: () => number = Math.random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** For `startApiServer({ faults: plan.faults })`. */
  readonly faults: Faults = (request, response) => {
    const fault = this.#choose(requested(request));
    return fault === undefined ? "pass" : this.#apply(fault, response);
  };

  /** Adds a rule. Returns what takes it back. */
  add(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Infinity };
    this.#rules.add(entry);
    return () => this.#rules.delete(entry);
  }

  #choose(request: Requested): Fault | undefined {
    for (const entry of this.#rules) {
      const { rule } = entry;
      const fits = SELECTORS.every((field) => (rule[field] ?? request[field]) === request[field]);
      if (!fits || (rule.share !== undefined && this.#random() >= rule.share)) continue;
      entry.left -= 1;
      if (entry.left <= 0) this.#rules.delete(entry);
      return rule.fault;
    }
    return undefined;
  }

  async #apply(fault: Fault, response: ServerResponse): Promise<"handled" | "pass"> {
    switch (fault.kind) {
      case "latency":
        await sleep(this.#clock, fault.milliseconds);
        return "pass";
      case "hang":
        return "handled";
      case "reset":
        response.destroy();
        return "handled";
      case "status": {
        const { retryAfterSeconds } = fault;
        const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
        if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
        const [reason, message] = worded[fault.code];
        throw new ApiFault(fault.code, reason, message, details);
      }
    }
  }
}

const worded = {
  403: ["Forbidden", "forbidden: a fault was asked for"],
  410: ["Expired", "too old resource version"],
  429: ["TooManyRequests", "Too many requests, please try again later."],
  500: ["InternalError", "Internal error occurred: a fault was asked for"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
} as const;

interface Requested {
  readonly verb: Verb;
  /** Empty for what is no resource, such as /version. */
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string;
}

const SELECTORS = ["verb", "resource", "name", "subresource"] as const;

const writes: Readonly<Record<string, Verb>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** Reads verb, resource and name as audit logs name them, without knowing which types are served. */
function requested({ method = "GET", url = "/" }: Pick<IncomingMessage, "method" | "url">): Requested {
  const { pathname, searchParams } = new URL(url, "http://sim");
  const [root, ...parts] = pathname.split("/").filter((part) => part !== "");
  const below = root === "api" ? parts.slice(1) : root === "apis" ? parts.slice(2) : [];
  const [resource = "", name, subresource = ""] =
    below[0] === "namespaces" && below.length > 2 ? below.slice(2) : below;
  const watches = ["1", "true"].includes(searchParams.get("watch") ?? "");
  return {
    resource,
    name,
    subresource,
    verb: writes[method] ?? (watches ? "watch" : name === undefined ? "list" : "get"),
  };
}
