import type { PodShape } from "../facts.ts";

type HostPort = PodShape["hostPorts"][number];

const ANY_ADDRESS = "0.0.0.0";

/** Two pods cannot have the same port of a node, unless on two addresses of it. */
export function portsConflict(one: HostPort, other: HostPort): boolean {
  if (one.port !== other.port || one.protocol !== other.protocol) return false;
  return one.address === other.address || one.address === ANY_ADDRESS || other.address === ANY_ADDRESS;
}
