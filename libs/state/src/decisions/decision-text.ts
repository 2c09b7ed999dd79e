import type { Decision } from "@evenkeel/runtime";

/** A decision that some replica wrote, perhaps of another version; nothing if the text is none. */
export function parseDecision(text: string): Decision | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isDecision(value) ? value : undefined;
}

function isDecision(value: unknown): value is Decision {
  return (
    hasTexts(value, "id", "at", "action", "reason", "message") &&
    typeof value["dryRun"] === "boolean" &&
    hasTexts(value["object"], "kind", "name") &&
    ["string", "undefined"].includes(typeof value["object"]["namespace"])
  );
}

function hasTexts(value: unknown, ...names: readonly string[]): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === "string")
  );
}
