/** Stands where something secret stood. */
export const MASKED = "[masked]";

const secretKey =
  "authorization|proxy-authorization|cookie|set-cookie|password|passwd|secret|token|api[-_]?key|private[-_]?key";
const string = String.raw`"(?:[^"\\]|\\.)*"`;

/** `"authorization":"…"` and `"Authorization":["…"]` at any depth of a JSON text. */
const underSecretKey = new RegExp(
  String.raw`("(?:[\w-]*[-_])?(?:${secretKey})":)(?:${string}|\[(?:${string},?)*\])`,
  "gi",
);
const bearer = /\bBearer\s+[\w.~+/=-]{4,}/gi;
const basic = /"Basic [\w+/=-]{4,}"/gi;
const userInfo = /(:\/\/)[^/\s"@:]*:[^/\s"@]+@/g;

/**
 * Masks what must not leave the process in a JSON text: values of keys that name credentials, bearer and basic credentials
 * wherever they stand, passwords in URLs, and the given `secrets`. The text stays valid JSON.
 */
export function scrub(json: string, secrets: readonly string[] = []): string {
  let text = json
    .replace(underSecretKey, `$1"${MASKED}"`)
    .replace(bearer, `Bearer ${MASKED}`)
    .replace(basic, `"Basic ${MASKED}"`)
    .replace(userInfo, `$1${MASKED}@`);
  for (const secret of secrets) {
    // A value this short occurs by chance in most lines; masking it would hide the log and not the secret.
    if (secret.length >= 4) text = text.replaceAll(JSON.stringify(secret).slice(1, -1), MASKED);
  }
  return text;
}
