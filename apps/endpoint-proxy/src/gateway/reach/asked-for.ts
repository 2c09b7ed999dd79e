import { AsyncLocalStorage } from "node:async_hooks";

/** The client's request for which members are asked. */
export interface AskedFor {
  readonly auditId: string;
  readonly userAgent: string | undefined;
  /** Called with the name of each member that is asked. */
  readonly asks: (member: string) => void;
}

/**
 * Set while an owner answers a request. What it asks of members carries the client's Audit-ID and User-Agent, so that
 * one request is found in the audit logs of all clusters. Unset for requests that this program makes for itself.
 */
export const askedFor = new AsyncLocalStorage<AskedFor>();
