/** Every input comes from an address of its own: all of 127.0.0.0/8 is this machine. */
export function addressOf(index: number): string {
  return `127.${1 + (index >>> 16)}.${(index >>> 8) & 255}.${index & 255}`;
}

export function indexOf(address: string): number {
  const [, high = 0, middle = 0, low = 0] = address.split(".").map(Number);
  return ((high - 1) << 16) | (middle << 8) | low;
}
