import type { SettingSource } from "./read.ts";
import { type Setting, type SettingsTable, flagName, variableNames } from "./table.ts";

export const MASK = "********";

/** A setting as it may be shown: secrets are masked, what is not set says so. */
export interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly source: SettingSource;
}

export function showSettings(
  table: SettingsTable,
  settings: Readonly<Record<string, unknown>>,
  sources: Readonly<Record<string, SettingSource>>,
): readonly ShownSetting[] {
  return Object.entries(table).map(([key, setting]) => {
    const source = sources[key] ?? "unset";
    return { name: flagName(key), value: source === "unset" ? "" : shownValue(setting, settings[key]), source };
  });
}

function shownValue({ kind, secret }: Setting, value: unknown): string {
  if (secret) return MASK;
  return withoutPasswords(kind.name === "duration" ? durationText(Number(value)) : String(value));
}

/** Hides the passwords of the URLs in a text. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/(\/\/[^/?#\s:@]*:)[^/?#\s]*@/g, `$1${MASK}@`);
}

/** Milliseconds in Go's notation, to the nanosecond. */
export function durationText(milliseconds: number): string {
  let rest = milliseconds;
  let text = "";
  for (const [unit, size] of [
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1000],
    ["ms", 1],
  ] as const) {
    const amount = unit === "ms" ? Number(rest.toFixed(6)) : Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text || "0s";
}

/** Aligned lines for `--print-settings`, one a setting. */
export function settingLines(shown: readonly ShownSetting[]): string {
  const width = Math.max(...shown.map(({ name }) => name.length));
  return shown
    .map(({ name, value, source }) => `${name.padEnd(width)}  ${value.replaceAll(/\s+/g, " ")}  (${source})\n`)
    .join("");
}

/** The text of `--help`. */
export function helpText(
  service: { readonly name: string; readonly summary: string },
  table: SettingsTable,
  verbs: Readonly<Record<string, string>>,
): string {
  const verbLines = Object.entries(verbs).map(([verb, help]) => `  ${service.name} ${verb}\n      ${help}\n`);
  const settingTexts = Object.entries(table).map(([key, setting]) => {
    const value = setting.kind.name === "boolean" ? "" : ` <${setting.kind.name}>`;
    return `  --${flagName(key)}${value}\n      ${setting.help}\n      ${footnote(key, setting)}\n`;
  });
  return [
    `${service.name}: ${service.summary}\n`,
    `Usage:\n  ${service.name} [flags]\n${verbLines.join("")}`,
    `Flags:\n${settingTexts.join("")}`,
    "  --print-settings\n      Prints every setting, its value and where it came from, and exits\n" +
      "  --version\n      Prints the version and exits\n  --help\n      Prints this and exits\n",
  ].join("\n");
}

function footnote(key: string, setting: Setting): string {
  const fallback = shownDefault(setting);
  const state = fallback === undefined ? setting.presence : `default ${fallback}`;
  const aliases = setting.aliases.map((alias) => `--${alias}`);
  return [variableNames(key, setting).join(", "), ...aliases, state, ...(setting.secret ? ["secret"] : [])].join("; ");
}

function shownDefault({ default: fallback, secret }: Setting): string | undefined {
  return fallback !== undefined && secret ? MASK : fallback;
}

/** A Markdown table for the reference. */
export function settingsMarkdown(table: SettingsTable): string {
  const rows = Object.entries(table).map(([key, setting]) => {
    const names = variableNames(key, setting)
      .map((name) => `\`${name}\``)
      .join("<br>");
    const flags = [flagName(key), ...setting.aliases].map((name) => `\`--${name}\``).join("<br>");
    const fallback = shownDefault(setting);
    const cells = [
      flags,
      names,
      setting.kind.name,
      fallback === undefined ? setting.presence : `\`${fallback}\``,
      setting.help + (setting.secret ? " (secret)" : ""),
    ];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return ["| flag | variable | type | default | what it does |", "|---|---|---|---|---|", ...rows].join("\n") + "\n";
}
