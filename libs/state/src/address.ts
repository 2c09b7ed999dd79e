import { BadAddress } from "./errors.ts";

export interface RedisCredentials {
  readonly username?: string;
  readonly password?: string;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Where the state lives. */
export type Address =
  | { readonly home: "sqlite"; readonly file: string }
  | ({ readonly home: "redis"; readonly tls: boolean; readonly db: number } & HostPort & RedisCredentials)
  | ({
      readonly home: "sentinel";
      readonly tls: boolean;
      readonly db: number;
      readonly sentinels: readonly HostPort[];
      /** The name under which the Sentinels watch the master. */
      readonly master: string;
      /** Of the Sentinels themselves, where they ask for it. */
      readonly sentinel: RedisCredentials;
    } & RedisCredentials);

/** SQLite's own name for a database that is kept in memory. */
export const IN_MEMORY = ":memory:";

export const ADDRESS_FORMS =
  "sqlite:<file>, sqlite::memory:, redis://[user:password@]host[:port][/db], " +
  "redis+sentinel://[user:password@]host[:port],…/master-name[/db][?sentinel-user=…&sentinel-password=…]; rediss for TLS";

const REDIS_URL =
  /^redis(?<tls>s)?(?<sentinel>\+sentinel)?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)(?:\/(?<path>[^?]*))?(?:\?(?<query>.*))?$/;

/**
 * Reads the value of EVENKEEL_STATE. Percent-encoding is undone in user, password and master name. Throws
 * EK_STATE_BAD_ADDRESS.
 */
export function parseAddress(text: string): Address {
  const address = tryAddress(text);
  if (address) return address;
  throw new BadAddress({ address: "the address of the state", takes: `one of ${ADDRESS_FORMS}` });
}

export function tryAddress(text: string): Address | undefined {
  if (text.startsWith("sqlite:")) return text.length > 7 ? { home: "sqlite", file: text.slice(7) } : undefined;
  const parts = REDIS_URL.exec(text)?.groups;
  if (!parts) return undefined;
  try {
    return redisAddress(parts);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function redisAddress(parts: Readonly<Record<string, string | undefined>>): Address | undefined {
  const tls = parts["tls"] !== undefined;
  const login = credentials(parts["user"], parts["password"]);
  const path = parts["path"] === undefined || parts["path"] === "" ? [] : parts["path"].split("/");
  const query = new URLSearchParams(parts["query"]);
  if (parts["sentinel"] === undefined) {
    const server = hostPort(parts["hosts"] ?? "", 6379);
    const db = database(path[0]);
    if (!server || db === undefined || path.length > 1 || query.size > 0) return undefined;
    return { home: "redis", tls, db, ...server, ...login };
  }
  const sentinels = (parts["hosts"] ?? "").split(",").map((host) => hostPort(host, 26_379));
  const [master = "", second, ...rest] = path;
  const db = database(second);
  const known = [...query.keys()].every((name) => name === "sentinel-user" || name === "sentinel-password");
  if (!sentinels.every((sentinel) => sentinel !== undefined)) return undefined;
  if (master === "" || db === undefined || rest.length > 0 || !known) return undefined;
  const sentinel = credentials(query.get("sentinel-user") ?? undefined, query.get("sentinel-password") ?? undefined);
  return { home: "sentinel", tls, db, sentinels, master: decodeURIComponent(master), sentinel, ...login };
}

function credentials(user: string | undefined, password: string | undefined): RedisCredentials {
  return {
    ...(user === undefined || user === "" ? {} : { username: decodeURIComponent(user) }),
    ...(password === undefined || password === "" ? {} : { password: decodeURIComponent(password) }),
  };
}

/** An IPv6 address stands in brackets. */
function hostPort(text: string, otherwise: number): HostPort | undefined {
  const [, six, host = six, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? otherwise : Number(digits);
  return host !== undefined && port > 0 && port <= 65_535 ? { host, port } : undefined;
}

function database(text: string | undefined): number | undefined {
  if (text === undefined) return 0;
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined;
}

/** The address as it may be logged: without credentials. */
export function showAddress(address: Address): string {
  const show = ({ host, port }: HostPort) => `${host.includes(":") ? `[${host}]` : host}:${port}`;
  switch (address.home) {
    case "sqlite":
      return `sqlite:${address.file}`;
    case "redis":
      return `redis${address.tls ? "s" : ""}://${show(address)}/${address.db}`;
    case "sentinel":
      return `redis${address.tls ? "s" : ""}+sentinel://${address.sentinels.map(show).join(",")}/${address.master}/${address.db}`;
  }
}
