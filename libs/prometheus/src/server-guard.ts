import { type LookupAddress, lookup as resolve } from "node:dns";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { ServerDenied } from "./errors.ts";

/** Where clouds serve the credentials of a machine. No metric server is there. */
const LINK_LOCAL = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128"];

/**
 * Which servers a tenant may ask. `allow` has host names, `*.` with a domain for the names below it, addresses and
 * CIDRs. `shop/` before an entry allows it to the tenant `shop` alone. An empty list allows all to all.
 */
export class ServerGuards {
  readonly #guards: ReadonlyMap<string, ServerGuard>;

  constructor(allow: readonly string[]) {
    const entries = allow.map(parseEntry);
    const serversOf = (tenant: string) =>
      entries.filter((entry) => entry.tenant === "" || entry.tenant === tenant).map(({ server }) => server);
    const tenants = new Set(["", ...entries.map(({ tenant }) => tenant)]);
    const guardOf = (tenant: string) => new ServerGuard(allow.length === 0 ? "all" : serversOf(tenant), tenant);
    this.#guards = new Map([...tenants].map((tenant) => [tenant, guardOf(tenant)]));
  }

  /** Tenants without entries of their own share one guard. */
  of(tenant = ""): ServerGuard | undefined {
    return this.#guards.get(tenant) ?? this.#guards.get("");
  }
}

/**
 * Which servers one tenant may ask. Link-local addresses are denied whatever is allowed, also if a name resolves to
 * one.
 */
export class ServerGuard {
  /** Empty if tenants share it. */
  readonly tenant: string;
  readonly #hosts: readonly string[];
  readonly #allowed: BlockList;
  readonly #denied = networks(LINK_LOCAL);
  readonly #allowsAll: boolean;

  constructor(allow: readonly string[] | "all", tenant = "") {
    this.tenant = tenant;
    this.#allowsAll = allow === "all";
    const entries = allow === "all" ? [] : allow;
    this.#hosts = entries.filter((entry) => !isNetwork(entry)).map((entry) => entry.toLowerCase());
    this.#allowed = networks(entries.filter(isNetwork));
  }

  /**
   * Throws for a server that may not be asked, as far as its name tells. `isResolved` says whether `lookup` is called
   * for it.
   */
  check(server: URL, isResolved: boolean): void {
    const host = server.hostname.replace(/^\[|\]$/g, "");
    const isAllowed = isIP(host) === 0 ? isResolved || this.#allowsName(host) : this.#allows(host, host);
    if (!isAllowed) throw new ServerDenied({ host });
  }

  /** Resolves a name for a connection, to addresses that may be connected to. */
  readonly lookup: LookupFunction = (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) callback(error, []);
      else this.#answer(host, found, options.all === true, callback);
    });
  };

  #answer(host: string, found: LookupAddress[], all: boolean, callback: Parameters<LookupFunction>[2]): void {
    const [first] = found;
    if (!found.every(({ address }) => this.#allows(host, address))) callback(new ServerDenied({ host }), []);
    else if (all || first === undefined) callback(null, found);
    else callback(null, first.address, first.family);
  }

  #allows(host: string, address: string): boolean {
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    const isAllowed = this.#allowsName(host) || this.#allowed.check(address, family);
    return isAllowed && !this.#denied.check(address, family);
  }

  #allowsName(host: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, "");
    const matches = (pattern: string) =>
      pattern.startsWith("*.") ? name.endsWith(pattern.slice(1)) : name === pattern;
    return this.#allowsAll || this.#hosts.some(matches);
  }
}

/** What is wrong with a list for a guard, one line for each entry. */
export function allowFaults(allow: readonly string[]): readonly string[] {
  const isHost = (entry: string) => /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(entry);
  const isFaulty = (server: string) => (isNetwork(server) ? parseNetwork(server) === undefined : !isHost(server));
  return allow
    .filter((entry) => isFaulty(parseEntry(entry).server))
    .map((entry) => `${entry} is neither a host name nor an address nor a CIDR`);
}

/** `shop/10.0.0.0/8` → shop and 10.0.0.0/8. A tenant's name has no dot and no colon, and an address has one of them. */
function parseEntry(entry: string): { readonly tenant: string; readonly server: string } {
  const [, tenant = "", server = entry] = /^([a-z0-9-]+)\/(?!\d+$)(.+)$/.exec(entry) ?? [];
  return { tenant, server };
}

function isNetwork(entry: string): boolean {
  return entry.includes("/") || isIP(entry) !== 0;
}

function networks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const network = parseNetwork(entry);
    if (network) list.addSubnet(network.address, network.prefix, network.family);
  }
  return list;
}

function parseNetwork(entry: string) {
  const [address = "", prefix] = entry.split("/");
  const bits = isIP(address) === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : Number(prefix);
  if (isIP(address) === 0 || prefix === "" || !Number.isInteger(length) || length < 0 || length > bits)
    return undefined;
  return { address, prefix: length, family: bits === 128 ? "ipv6" : "ipv4" } as const;
}
