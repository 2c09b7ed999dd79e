/** Whether a response with this status has a body, possibly empty, and so a length (RFC 9110, section 8.6). */
export function mayHaveBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}
