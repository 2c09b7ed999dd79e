/** A time in the format of metav1.MicroTime, which requires exactly six decimals. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z");
}
