import type { Fields } from "./configuration-text.ts";
import { type ConfigFault, fieldName } from "./fault.ts";

/**
 * Characters that Go's YAML reader refuses unless they are escaped, and JSON does not escape.
 * https://github.com/yaml/go-yaml/blob/v3.0.1/readerc.go
 */
const UNREADABLE = /[\u007f-\u0084\u0086-\u009f\ufeff\ufffe\uffff]/g;

/** Characters of a key, quotes included. A YAML reader takes a longer one for no key, and refuses the whole text. */
const LONGEST_KEY = 1000;

/** JSON that collectors can read. They read it as YAML, and one job that they cannot read takes all others along. */
export function servedText(jobs: Fields): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(jobs).replace(UNREADABLE, escaped);
}

/** What of a job no text can bring to collectors; undefined if all can be read. */
export function unservable(name: string, config: Fields): ConfigFault | undefined {
  return keyFault("job_name", name) ?? partFault(config, []);
}

function partFault(part: unknown, path: readonly PropertyKey[]): ConfigFault | undefined {
  if (typeof part === "string") {
    return part.isWellFormed()
      ? undefined
      : { field: fieldName(path), message: "it has half of a character: remove it" };
  }
  if (typeof part !== "object" || part === null) return undefined;
  for (const [name, each] of Object.entries(part)) {
    const at = [...path, name];
    const fault = (Array.isArray(part) ? undefined : keyFault(fieldName(at), name)) ?? partFault(each, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function keyFault(field: string, name: string): ConfigFault | undefined {
  // YAML merges the fields of this key into the map around it.
  if (name === "<<")
    return { field, message: "YAML does not keep a field of this name, so collectors cannot get it: use another name" };
  const { length } = servedText({ [name]: 0 });
  if (length <= LONGEST_KEY) return undefined;
  return {
    field: field.slice(0, 100),
    message: `the name has ${length} characters; collectors read at most ${LONGEST_KEY}`,
  };
}
