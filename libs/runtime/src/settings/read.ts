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
 * Splits a command line. `--name=value`, `--name value` and, for booleans, `--name` and `--no-name`; one dash is as good as
 * two, as in Go's flag package. `--` ends the flags.
 */
export function splitCommandLine(table: SettingsTable, args: readonly string[]): CommandLine {
  const booleans = new Set(
    Object.entries(table)
      .filter(([, { kind }]) => kind.name === "boolean")
      .flatMap(([key, { aliases }]) => [flagName(key), ...aliases]),
  );
  const words: string[] = [];
  const flags: { name: string; text: string | undefined }[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "--") {
      words.push(...args.slice(index + 1));
      break;
    }
    const [, name, text] = /^--?([^=\s]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (name === undefined) words.push(arg);
    else if (text !== undefined) flags.push({ name, text });
    else if (booleans.has(name)) flags.push({ name, text: "true" });
    else if (name.startsWith("no-") && booleans.has(name.slice(3))) flags.push({ name: name.slice(3), text: "false" });
    else if (switches.has(name)) flags.push({ name, text: "true" });
    else {
      const next = args[index + 1];
      const takesNext = next !== undefined && !/^--?[a-z]/i.test(next);
      flags.push({ name, text: takesNext ? next : undefined });
      if (takesNext) index++;
    }
  }
  return { words, flags };
}

/** Flags of every service that are no settings. */
export const switches: ReadonlySet<string> = new Set(["help", "h", "version", "print-settings"]);

/** Reads every setting: a flag wins over a variable, a variable over the default. An empty variable counts as not set. */
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
    const text = found?.text ?? setting.default;
    if (text !== undefined) {
      values[key] = setting.kind.parse(text);
      if (values[key] === undefined) {
        const shown = setting.secret ? "the value given" : JSON.stringify(text.slice(0, 80));
        faults.push(`${sources[key]}: ${shown} is not ${setting.kind.takes}`);
      }
    } else if (setting.presence === "required" && !faults.some((fault) => fault.startsWith(`--${flagName(key)}:`))) {
      faults.push(`--${flagName(key)} (or ${variableNames(key, setting).join(", ")}) is required: ${setting.help}`);
    }
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, settings: values as SettingsOf<T>, sources };
}

/** What the user gave for a setting. Two different answers are a fault: guessing which was meant helps nobody. */
function given(
  key: string,
  setting: Setting,
  flags: CommandLine["flags"],
  env: Environment,
  faults: string[],
): { text: string; source: SettingSource } | undefined {
  const names = [flagName(key), ...setting.aliases];
  const mine = flags.filter(({ name }) => names.includes(name));
  const last = mine.at(-1);
  if (last) {
    const source: SettingSource = `--${last.name}`;
    const texts = mine.map(({ text }) => text).filter((text) => text !== undefined);
    if (texts.length < mine.length) {
      faults.push(`${source}: a value is missing; it takes ${setting.kind.takes}`);
      return undefined;
    }
    if (setting.kind.name === "list") return { text: texts.join(","), source };
    if (new Set(texts).size > 1) faults.push(`${source}: given ${mine.length} times with different values`);
    return { text: texts.at(-1) ?? "", source };
  }
  const set = variableNames(key, setting).filter((name) => env[name]);
  if (new Set(set.map((name) => env[name])).size > 1) {
    faults.push(`${set.join(" and ")} are set to different values; keep one`);
  }
  const [name] = set;
  return name === undefined ? undefined : { text: env[name] ?? "", source: `$${name}` };
}

function unknownFlags(table: SettingsTable, flags: CommandLine["flags"]): string[] {
  const known = Object.entries(table).flatMap(([key, { aliases }]) => [flagName(key), ...aliases]);
  return flags
    .filter(({ name }) => !known.includes(name) && !switches.has(name))
    .map(({ name }) => {
      const near = known.find((candidate) => distance(candidate, name) <= 2);
      return `--${name}: there is no such flag${near === undefined ? "; --help lists them" : `; did you mean --${near}?`}`;
    });
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
