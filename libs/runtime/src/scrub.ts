/** Stands where something secret stood. */
export const MASKED = "[masked]";

/**
 * How the name of a credential ends. The annotation of `kubectl apply` repeats a whole object, a Secret's data
 * included.
 */
const credential =
  "authorization|cookie|password|passwd|secret|token|api[-_]?key|private[-_]?key|secret[-_]?access[-_]?key" +
  "|last-applied-configuration";
const name = String.raw`"[\w./-]*(?:${credential})"`;
const string = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;

/** `"authorization":"…"`, `"Set-Cookie":["…"]` and `"name":"REDIS_PASSWORD","value":"…"`, at any depth. */
const named = new RegExp(
  String.raw`((?:"(?:name|key)"\s*:\s*${name}\s*,\s*"value"|${name})\s*:\s*)(?:${string}|\[(?:${string}|[\s,])*\])`,
  "gi",
);
const bearer = /(Bearer\s+)[^\s"\\,;]{4,}/gi;
/** Words that follow "basic" are all in lower case; base64 is not. */
const basic = /([Bb][Aa][Ss][Ii][Cc]\s+)(?=[a-z]*[A-Z\d+/=])[\w+/=-]{4,}/g;
const userInfo = /(:\/\/)[^/?#\s"@:]*:[^/?#\s"]+@/g;

/** A string with its quotes, or a number or literal. */
const scalar = new RegExp(String.raw`${string}|[^\s",:[\]{}]+`, "g");

/** Every text that one of the patterns above matches has one of these. Most lines of a log have none. */
const suspicious = /authorization|cookie|passw|secret|token|key|last-applied|bearer|basic|:\/\//i;

/**
 * Masks what must not leave the process in a JSON text: values of keys that name credentials, bearer and basic
 * credentials wherever they stand, passwords in URLs, and the given `secrets`. The text stays valid JSON.
 */
export function scrub(json: string, secrets: readonly string[] = []): string {
  return scrubber(secrets)(json);
}

/** `scrub` with what it needs to know of `secrets` computed once. */
export function scrubber(secrets: readonly string[]): (json: string) => string {
  const known = secrets
    // A value this short occurs by chance in most lines; masking it would hide the log and not the secret.
    .filter((secret) => secret.length >= 4)
    // The longest first: where one begins another, the whole must go.
    .sort((a, b) => b.length - a.length)
    .map((secret) => ({ secret, escaped: JSON.stringify(secret).slice(1, -1) }));
  return (json) => {
    const text = suspicious.test(json) ? masked(json) : json;
    const present = known.filter(({ escaped }) => text.includes(escaped)).map(({ secret }) => secret);
    return present.length === 0 ? text : text.replace(scalar, (token) => withoutSecrets(token, present));
  };
}

function masked(json: string): string {
  return json
    .replace(named, `$1"${MASKED}"`)
    .replace(bearer, `$1${MASKED}`)
    .replace(basic, `$1${MASKED}`)
    .replace(userInfo, `$1${MASKED}@`);
}

/** Looks at what a string says, not at how it is escaped. A number or literal with a secret in it becomes a string. */
function withoutSecrets(token: string, secrets: readonly string[]): string {
  const value = token.startsWith('"') ? (JSON.parse(token) as string) : token;
  const shown = secrets.reduce((text, secret) => text.replaceAll(secret, MASKED), value);
  return shown === value ? token : JSON.stringify(shown);
}
