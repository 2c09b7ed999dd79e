import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { ControlPlaneError } from "./errors.ts";

/** Both ends are included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Well-known ports are below. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 65_535;

/** Minimum size of a range in which to look for free ports. */
const ENOUGH_PORTS = 500;

/** The kernel's range for outgoing connections: the content of net/ipv4/ip_local_port_range. */
export function parseEphemeralRange(text: string): PortRange | undefined {
  const [first, last] = text.trim().split(/\s+/).map(Number);
  return first !== undefined && last !== undefined && first > 0 && last >= first ? { first, last } : undefined;
}

/**
 * Ports that no outgoing connection uses, so that a component can be restarted on its own port. If the kernel's range
 * leaves too few, all ports from 20000 on.
 */
export function listeningRange(ephemeral: PortRange | undefined): PortRange {
  const all = { first: LOWEST_PORT, last: HIGHEST_PORT };
  if (ephemeral === undefined) return all;
  const gaps = [
    { first: LOWEST_PORT, last: ephemeral.first - 1 },
    { first: Math.max(LOWEST_PORT, ephemeral.last + 1), last: HIGHEST_PORT },
  ];
  return gaps.find(({ first, last }) => last - first + 1 >= ENOUGH_PORTS) ?? all;
}

/** Whether a listener on 127.0.0.1 could be opened on the port now. */
export async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.once("error", () => resolve(false));
  server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  return promise;
}

/**
 * Selects different ports that are free now. Another process may use one before the caller does, which the caller must
 * handle. The choice is random, so that a retry, or another process, is unlikely to select the same.
 */
export async function chooseFreePorts(
  count: number,
  range: PortRange = listeningRange(readEphemeralRange()),
  free: (port: number) => Promise<boolean> = isFree,
  random: () => number = Math.random,
): Promise<number[]> {
  const chosen = new Set<number>();
  const size = range.last - range.first + 1;
  for (let tries = 0; tries < 20 * count && chosen.size < count; tries += 1) {
    const port = range.first + Math.floor(random() * size);
    if (!chosen.has(port) && (await free(port))) chosen.add(port);
  }
  if (chosen.size < count) {
    throw new ControlPlaneError(
      "EK_CLUSTER_PORT_TAKEN",
      `found ${chosen.size} of ${count} free ports between ${range.first} and ${range.last}; close what listens there`,
    );
  }
  return [...chosen];
}

function readEphemeralRange(): PortRange | undefined {
  try {
    return parseEphemeralRange(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8"));
  } catch {
    return undefined;
  }
}
