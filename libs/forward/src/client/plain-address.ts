/** An address without the IPv6 prefix that a dual-stack socket adds to IPv4 addresses. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return "unknown";
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
