/** A hosted zone's id without a prefix: `hostedzone/X`, `/hostedzone/X` and `X` are the same zone. */
export function zoneId(text: string): string {
  return text.trim().replace(/^\/?hostedzone\//, "");
}

/**
 * A DNS name in the one form that names are compared in, which is also the form of Route 53's answers: lower case, a
 * trailing dot, and everything but letters, digits, `-`, `_` and the dots between labels as `\ooo`.
 * https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DomainNameFormat.html
 */
export function canonicalName(name: string): string {
  const labels = name.trim().replace(/\.$/, "").split(".");
  return labels.map((label) => `${escape(unescape(label).toLowerCase())}.`).join("");
}

/** A name for people: without the trailing dot, and with escapes only where necessary. */
export function displayName(name: string): string {
  const labels = canonicalName(name).slice(0, -1).split(".");
  return labels.map((label) => label.replaceAll("\\052", "*")).join(".");
}

/**
 * The sort key of a canonical name in Route 53's lists: its labels from the last to the first. The trailing dot is
 * included and sorts after `-`.
 */
export function listPosition(canonical: string): string {
  return `${canonical.slice(0, -1).split(".").reverse().join(".")}.`;
}

function unescape(label: string): string {
  return label.replace(/\\([0-3][0-7]{2})/g, (_whole, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}

function escape(label: string): string {
  return label.replace(/[^a-z0-9_-]/g, (character) => {
    const bytes = character.charCodeAt(0) < 0x100 ? [character.charCodeAt(0)] : [...Buffer.from(character)];
    return bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  });
}
