import { withoutPasswords } from "./show.ts";
import { type Setting, type SettingsOf, type SettingsTable, flagName, variableNames } from "./table.ts";

/** Where a value came from: a flag, a variable's name, or the table. */
export type SettingSource = `--${string}` | `$${string}` | "default" | "unset";

export type Reading<T extends SettingsTable> =
  | {
      readonly ok: true;
      readonly settings: SettingsOf<T>;
      readonly sources: Readonly<Record<string, SettingSource>>;
    }
  | {
      readonly ok: false;
      /** Every fault, one line each. */
      readonly faults: readonly string[];
    };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Flags as they stand on a command line, and the words between them. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly flags: readonly { readonly name: string; readonly text: string | undefined }[];
}

/**
 * Splits a command line. `--name=value`, `--name value` and, for booleans, `--name` and `--no-name`; one dash is as
 * good as two, as in Go's flag package. `--` ends the flags.
 */
export function splitCommandLine(table: SettingsTable, args: readonly string[]): CommandLine {
  const settings = byFlag(table);
  const isBoolean = (name: string) => settings.get(name)?.kind.name === "boolean";
  const negated = (name: string) => (name.startsWith("no-") && isBoolean(name.slice(3)) ? name.slice(3) : undefined);
  const words: string[] = [];
  const flags: { name: string; text: string | undefined }[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") {
      words.push(...args.slice(index + 1));
      break;
    }
    const { name, text } = asFlag(arg);
    const positive = negated(name ?? "");
    if (name === undefined) words.push(arg);
    else if (text !== undefined) flags.push({ name, text });
    else if (isBoolean(name) || switches.has(name)) flags.push({ name, text: "true" });
    else if (positive !== undefined) flags.push({ name: positive, text: "false" });
    else {
      const next = args[index + 1];
      const following = asFlag(next ?? "").name ?? "";
      // A secret may well begin with a dash; as an unknown flag it would be repeated in a fault.
      const isNextFlag = settings.get(name)?.secret
        ? settings.has(following) || switches.has(following) || negated(following) !== undefined
        : /^[a-z-]/i.test(following);
      const takesNext = next !== undefined && !isNextFlag;
      flags.push({ name, text: takesNext ? next : undefined });
      if (takesNext) index++;
    }
  }
  return { words, flags };
}

/** The parts of an argument that looks like a flag. */
function asFlag(arg: string): { readonly name?: string | undefined; readonly text?: string | undefined } {
  const [, name, text] = /^--?([^=\s]+)(?:=(.*))?$/s.exec(arg) ?? [];
  return { name, text };
}

/** Every flag of the table, further names included. */
function byFlag(table: SettingsTable): ReadonlyMap<string, Setting> {
  return new Map(
    Object.entries(table).flatMap(([key, setting]) =>
      [flagName(key), ...setting.aliases].map((name) => [name, setting] as const),
    ),
  );
}

/** Flags of every service that are no settings. */
export const switches: ReadonlySet<string> = new Set(["help", "h", "version", "print-settings"]);

/**
 * Reads every setting: a flag wins over a variable, a variable over the default. An empty variable counts as not set.
 */
export function readSettings<const T extends SettingsTable>(
  table: T,
  flags: CommandLine["flags"],
  env: Environment,
): Reading<T> {
  const faults = unknownFlags(table, flags);
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingSource> = {};
  for (const [key, setting] of Object.entries(table)) {
    const found = given(key, setting, flags, env, faults);
    sources[key] = found?.source ?? (setting.default === undefined ? "unset" : "default");
    const text = found ? found.text : setting.default;
    if (text !== undefined) {
      values[key] = setting.kind.parse(text);
      if (values[key] === undefined) {
        const shown = setting.secret ? "the value given" : JSON.stringify(withoutPasswords(text).slice(0, 80));
        faults.push(`${sources[key]}: ${shown} is not ${setting.kind.takes}`);
      }
    } else if (found) {
      faults.push(`${found.source}: a value is missing; it takes ${setting.kind.takes}`);
    } else if (setting.presence === "required") {
      faults.push(`--${flagName(key)} (or ${variableNames(key, setting).join(", ")}) is required: ${setting.help}`);
    }
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, settings: values as SettingsOf<T>, sources };
}

/** What the user gave for a setting; a flag may lack its text. Two different values are a fault. */
function given(
  key: string,
  setting: Setting,
  flags: CommandLine["flags"],
  env: Environment,
  faults: string[],
): { text: string | undefined; source: SettingSource } | undefined {
  const names = [flagName(key), ...setting.aliases];
  const mine = flags.filter(({ name }) => names.includes(name));
  const last = mine.at(-1);
  if (last) {
    const source: SettingSource = `--${last.name}`;
    const texts = mine.map(({ text }) => text).filter((text) => text !== undefined);
    if (texts.length < mine.length) return { text: undefined, source };
    if (setting.kind.name === "list") return { text: texts.join(","), source };
    if (new Set(texts).size > 1) faults.push(`${source}: given ${mine.length} times with different values`);
    return { text: texts.at(-1), source };
  }
  const set = variableNames(key, setting).filter((name) => env[name]);
  if (new Set(set.map((name) => env[name])).size > 1) {
    faults.push(`${set.join(" and ")} are set to different values; keep one`);
  }
  const [name] = set;
  return name === undefined ? undefined : { text: env[name], source: `$${name}` };
}

function unknownFlags(table: SettingsTable, flags: CommandLine["flags"]): string[] {
  const known = byFlag(table);
  return flags
    .filter(({ name }) => !known.has(name) && !switches.has(name))
    .map(({ name }) => {
      const near = nearest(name, [...known.keys()]);
      return `--${name}: unknown flag${near === undefined ? "; --help lists them" : `; did you mean --${near}?`}`;
    });
}

/** The candidate that `name` was probably meant to be. */
function nearest(name: string, candidates: readonly string[]): string | undefined {
  const [near] = candidates
    .map((candidate) => ({ candidate, away: distance(candidate, name) }))
    .filter(({ away }) => away <= 2)
    .sort((a, b) => a.away - b.away);
  return near?.candidate;
}

/** Edit distance, for "did you mean". */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
