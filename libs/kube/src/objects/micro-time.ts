/** A time in the form of metav1.MicroTime, which takes six decimals and no other number of them. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace("Z", "000Z");
}
