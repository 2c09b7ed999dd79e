import type { IncomingMessage } from "node:http";
import { type Clock, sleep } from "@evenkeel/runtime";
import type { Faults } from "../api-server.ts";

/** What goes wrong with a request on the wire, before the world behind it sees it. Time is the clock's. */
export type WireFault =
  | { readonly kind: "latency"; readonly milliseconds: number }
  /** The request is taken and never answered. */
  | { readonly kind: "hang" }
  /** The connection is reset. */
  | { readonly kind: "reset" }
  /** An answer such as a proxy in between gives: the status and no body of the API's own. */
  | { readonly kind: "status"; readonly code: number };

export interface WireFaultRule {
  readonly fault: WireFault;
  /** Which requests it befalls; all unless told. */
  readonly when?: (request: IncomingMessage) => boolean;
  /** How many requests it befalls before it is over by itself. */
  readonly times?: number;
}

/**
 * Faults that a test adds and takes back while a world runs. Of several that fit, the first added befalls a request.
 */
export class WireFaults {
  readonly #clock: Clock;
  readonly #rules = new Set<{ readonly rule: WireFaultRule; left: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a rule. Returns what takes it back. */
  add(rule: WireFaultRule): () => void {
    const entry = { rule, left: rule.times ?? Infinity };
    this.#rules.add(entry);
    return () => this.#rules.delete(entry);
  }

  /** Takes all rules back. Requests that hang go on hanging. */
  clear(): void {
    this.#rules.clear();
  }

  readonly hook: Faults = async (request, response) => {
    const entry = [...this.#rules].find(({ rule }) => rule.when?.(request) ?? true);
    if (entry === undefined) return "pass";
    entry.left -= 1;
    if (entry.left <= 0) this.#rules.delete(entry);
    const { fault } = entry.rule;
    switch (fault.kind) {
      case "latency": {
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        return sleep(this.#clock, fault.milliseconds, gone.signal).then(
          () => "pass" as const,
          () => "handled" as const,
        );
      }
      case "hang":
        return "handled";
      case "reset":
        request.socket.resetAndDestroy();
        return "handled";
      case "status":
        response.writeHead(fault.code, { "content-type": "text/plain", connection: "close" }).end(`${fault.code}\n`);
        return "handled";
    }
  };
}
