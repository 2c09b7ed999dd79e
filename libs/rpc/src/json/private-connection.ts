import { BlockList, isIPv6, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** Also matches IPv4 addresses that are mapped to IPv6, such as `::ffff:127.0.0.1`. */
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/**
 * Whether the connection cannot be read on its way: it is encrypted, or does not leave the machine, as with
 * `kubectl port-forward`. Headers that claim so are ignored, because any client can send them.
 */
export function isPrivate(socket: Pick<Socket, "remoteAddress"> & Pick<Partial<TLSSocket>, "encrypted">): boolean {
  const { encrypted, remoteAddress } = socket;
  if (encrypted) return true;
  return remoteAddress !== undefined && loopback.check(remoteAddress, isIPv6(remoteAddress) ? "ipv6" : "ipv4");
}
