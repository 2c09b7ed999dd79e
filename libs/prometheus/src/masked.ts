import { MASKED } from "@evenkeel/runtime";

/** Values this short occur by chance in most sentences. */
const SHORTEST_SECRET = 4;

/** A server, or a proxy before it, may repeat what it was sent. */
export function masked(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, MASKED), text);
}
