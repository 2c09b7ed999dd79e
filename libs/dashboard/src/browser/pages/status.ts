import type { Decision } from "../decisions/decision.ts";

/** What `Runtime/Status` says of the service. */
export interface Status {
  readonly service: string;
  readonly summary: string;
  readonly version: string;
  readonly phase: string;
  /** Milliseconds. */
  readonly uptime: number;
  readonly unready: readonly { readonly name: string; readonly reason: string }[];
  readonly settings: readonly { readonly name: string; readonly value: string; readonly source: string }[];
  readonly decisions: readonly Decision[];
}

/** What `Dashboard/Peers` says of one. */
export type Peer = { readonly name: string; readonly dashboard: string; readonly askedAt: string } & (
  ({ readonly up: true } & Omit<Status, "summary" | "settings">) | { readonly up: false; readonly fault: string }
);
