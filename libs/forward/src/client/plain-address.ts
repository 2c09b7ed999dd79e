/** An address as people write it: one of IPv4 that came by a socket of IPv6 loses its prefix. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return "unknown";
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
