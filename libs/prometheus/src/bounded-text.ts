/** Text of others, on one line and no longer than `limit` characters, so that it fits into a condition. */
export function bounded(text: string, limit: number): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}
