import type { lookup as systemLookup, LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * This machine, where this service answers, and link-local addresses, where clouds serve credentials to whoever asks,
 * and the other addresses of such services. A configuration must not reach them with this service's place in the
 * network.
 */
const forbidden = new BlockList();
forbidden.addSubnet("127.0.0.0", 8, "ipv4");
forbidden.addSubnet("0.0.0.0", 8, "ipv4"); // Linux connects to itself
forbidden.addAddress("::1", "ipv6");
forbidden.addAddress("::", "ipv6");
forbidden.addSubnet("169.254.0.0", 16, "ipv4");
forbidden.addAddress("100.100.100.200", "ipv4"); // Alibaba Cloud
forbidden.addAddress("192.0.0.192", "ipv4"); // Oracle Cloud
forbidden.addSubnet("fe80::", 10, "ipv6");
forbidden.addAddress("fd00:ec2::254", "ipv6"); // AWS
forbidden.addSubnet("64:ff9b::a9fe:0", 112, "ipv6"); // 169.254.0.0/16 through NAT64

/** Whether nobody may connect to this IP address. */
export function isForbidden(address: string): boolean {
  const family = isIP(address.replace(/%.*$/, ""));
  return family !== 0 && forbidden.check(address.replace(/%.*$/, ""), family === 6 ? "ipv6" : "ipv4");
}

/** How a name becomes addresses; `dns.lookup` unless a test has another. */
export type Lookup = typeof systemLookup;

/** A lookup for connections that fails for a name with a forbidden address, so that no later check can be deceived. */
export function guardedLookup(lookup: Lookup, isBad: (address: string) => boolean): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const bad = error === null ? addresses.find(({ address }) => isBad(address)) : undefined;
      const fault = bad && Object.assign(new Error(forbiddenMessage(name)), { code: "EACCES" });
      const [first] = addresses;
      if (error ?? fault) callback(error ?? fault ?? null, "", 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first?.address ?? "", first?.family);
    });
  };
}

export function forbiddenMessage(host: string): string {
  return `${host} is a loopback, link-local or metadata address, which discovery must not reach`;
}
