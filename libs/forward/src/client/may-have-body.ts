/** Whether an answer of this status has a body, if only an empty one, and so a length (RFC 9110, section 8.6). */
export function mayHaveBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}
