import type { Decision } from "@evenkeel/runtime";

/** What a peer says of itself, cut to what a tile shows. */
export interface PeerUp {
  readonly up: true;
  readonly service: string;
  readonly version: string;
  readonly phase: string;
  readonly unready: readonly { readonly name: string; readonly reason: string }[];
  /** Milliseconds. */
  readonly uptime: number;
  /** The newest first. */
  readonly decisions: readonly Pick<
    Decision,
    "id" | "at" | "object" | "action" | "reason" | "message" | "before" | "after" | "dryRun"
  >[];
}

interface PeerDown {
  readonly up: false;
  /** Why, in one sentence. */
  readonly fault: string;
}

export type PeerState = (PeerUp | PeerDown) & {
  readonly name: string;
  readonly dashboard: string;
  /** When it was requested; RFC 3339. */
  readonly askedAt: string;
};

type Fields = Readonly<Record<string, unknown>>;

/** The longest text of a peer that is passed on. */
const LONGEST_TEXT = 500;

/** Reads a peer's answers to `Runtime/Status` and `Decisions/List`; nothing if they are not such answers. */
export function readPeer(status: unknown, list: unknown): PeerUp | undefined {
  if (!isFields(status) || !isFields(list) || !Array.isArray(list["decisions"])) return undefined;
  const { service, version, phase, uptime, unready } = status;
  if (typeof service !== "string" || typeof phase !== "string" || !Array.isArray(unready)) return undefined;
  return {
    up: true,
    service: text(service),
    version: text(version),
    phase: text(phase),
    uptime: typeof uptime === "number" ? uptime : 0,
    unready: unready.filter(isFields).map(({ name, reason }) => ({ name: text(name), reason: text(reason) })),
    decisions: list["decisions"].filter(isFields).map(readDecision),
  };
}

function readDecision(decision: Fields): PeerUp["decisions"][number] {
  const object = isFields(decision["object"]) ? decision["object"] : {};
  const { kind, namespace, name } = object;
  return {
    id: text(decision["id"]),
    at: text(decision["at"]),
    object: {
      kind: text(kind),
      ...(typeof namespace === "string" && { namespace: text(namespace) }),
      name: text(name),
    },
    action: text(decision["action"]),
    reason: text(decision["reason"]),
    message: text(decision["message"]),
    before: decision["before"] ?? null,
    after: decision["after"] ?? null,
    dryRun: decision["dryRun"] === true,
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, LONGEST_TEXT) : "";
}
