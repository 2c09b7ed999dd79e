import { Resolver } from "node:dns/promises";
import type { Clock } from "@evenkeel/runtime";
import { hostPort } from "../kubernetes/meta-labels.ts";
import type { GroupSink, TargetGroup } from "../target-group.ts";
import type { DnsBlock } from "./discovery-block.ts";
import { fullNames, type NameServers, readNameServers } from "./name-servers.ts";
import { type Reading, RefreshedSource } from "./refreshed-source.ts";
import type { Discovery } from "./start-discovery.ts";

export interface DnsParts {
  readonly clock: Clock;
  /** What `/etc/resolv.conf` says unless a test says otherwise. */
  readonly nameServers?: (() => Promise<NameServers>) | undefined;
}

/** Milliseconds that one server has for one question. */
const TIMEOUT = 2000;

/** Codes by which a server says that there are no such records. Everything else says nothing about them. */
const NO_RECORDS = ["ENOTFOUND", "ENODATA"];

/** Asks DNS for targets. A name that does not exist has none; a name that cannot be answered keeps those it had. */
export function dnsDiscovery(block: DnsBlock, sink: GroupSink, parts: DnsParts): Discovery {
  const read = (signal: AbortSignal) => ask(block, parts, signal);
  return new RefreshedSource({ interval: block.refreshInterval, read, sink, clock: parts.clock });
}

async function ask(
  block: DnsBlock,
  { nameServers = readNameServers }: DnsParts,
  signal: AbortSignal,
): Promise<Reading> {
  const configured = await nameServers();
  const resolver = new Resolver({ timeout: TIMEOUT, tries: 1 });
  resolver.setServers(configured.servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const answers = await Promise.all(
      [...new Set(block.names)].map(async (name) => ({
        name,
        group: await groupOf(name, block, configured, resolver),
      })),
    );
    signal.throwIfAborted();
    return {
      groups: answers.flatMap(({ group }) => group ?? []),
      failed: answers
        .filter(({ group }) => group === undefined)
        .map(({ name }) => ({
          owns: (source: string) => source === name,
          message: `no server gave an answer about ${JSON.stringify(name)}`,
        })),
    };
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** The targets of a name; undefined if it cannot be known whether it has any. */
async function groupOf(
  name: string,
  block: DnsBlock,
  configured: NameServers,
  resolver: Resolver,
): Promise<TargetGroup | undefined> {
  let isKnown = true;
  for (const full of fullNames(name, configured)) {
    try {
      const targets = await recordsOf(full, block, resolver);
      return { source: name, labels: new Map(), targets: targets.map((labels) => new Map([...labels, [NAME, name]])) };
    } catch (error) {
      const code = (error as { readonly code?: unknown }).code;
      // The name exists, but not with this type: no other name is asked for.
      if (code === "ENODATA") break;
      if (!NO_RECORDS.includes(String(code))) isKnown = false;
    }
  }
  return isKnown ? { source: name, labels: new Map(), targets: [] } : undefined;
}

const NAME = "__meta_dns_name";
type Pairs = readonly (readonly [string, string])[];

async function recordsOf(name: string, { type, port }: DnsBlock, resolver: Resolver): Promise<readonly Pairs[]> {
  const address = (host: string, at = port) => ["__address__", hostPort(host, at)] as const;
  switch (type) {
    case "A":
      return (await resolver.resolve4(name)).map((ip) => [address(ip)]);
    case "AAAA":
      return (await resolver.resolve6(name)).map((ip) => [address(ip)]);
    case "SRV":
      return (await resolver.resolveSrv(name)).map((record) => [
        address(record.name, record.port),
        ["__meta_dns_srv_record_target", `${record.name}.`],
        ["__meta_dns_srv_record_port", String(record.port)],
      ]);
    case "MX":
      return (await resolver.resolveMx(name)).map(({ exchange }) => [
        address(exchange),
        ["__meta_dns_mx_record_target", `${exchange}.`],
      ]);
    case "NS":
      return (await resolver.resolveNs(name)).map((server) => [
        address(server),
        ["__meta_dns_ns_record_target", `${server}.`],
      ]);
  }
}
