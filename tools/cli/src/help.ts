import { flagName, type Setting, type SettingsTable } from "@evenkeel/runtime";
import type { Verb } from "./verb.ts";

export const PROGRAM = "kubectl evenkeel";

/** The text of `--help` without a verb. */
export function programHelp(verbs: readonly Verb[]): string {
  const width = Math.max(...verbs.map(({ name }) => name.length));
  const lines = verbs.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return [
    `${PROGRAM}: shows the state of the Evenkeel services, explains their decisions, plans evictions and diagnoses problems. Read-only.\n`,
    `Usage:\n  ${PROGRAM} <verb> [flags]\n`,
    `Verbs:\n${lines.join("")}`,
    `Exit codes:\n  0  success\n  1  a problem was found, or a request was refused\n  2  invalid usage\n`,
    `${PROGRAM} <verb> --help describes a verb and its flags. --version prints the version.\n`,
  ].join("\n");
}

/** The text of `<verb> --help`. */
export function verbHelp({ name, usage, summary, details = [], settings }: Verb): string {
  const usages = usage.map((rest) => `  ${PROGRAM} ${name}${rest === "" ? "" : ` ${rest}`} [flags]\n`);
  return [
    `${summary}.\n`,
    ...(details.length === 0 ? [] : [`${details.join("\n")}\n`]),
    `Usage:\n${usages.join("")}`,
    `Flags:\n${flagLines(settings)}`,
  ].join("\n");
}

function flagLines(table: SettingsTable): string {
  const flags = Object.entries(table).map(([key, setting]) => [namesOf(key, setting), helpOf(setting)] as const);
  const width = Math.max(...flags.map(([names]) => names.length));
  return flags.map(([names, help]) => `  ${names.padEnd(width)}  ${help}\n`).join("");
}

function namesOf(key: string, { kind, aliases }: Setting): string {
  const short = aliases.filter((alias) => alias.length === 1).map((alias) => `-${alias}, `);
  const long = [flagName(key), ...aliases.filter((alias) => alias.length > 1)].map((flag) => `--${flag}`);
  return `${short.join("")}${long.join(", ")}${kind.name === "boolean" ? "" : ` <${kind.name}>`}`;
}

function helpOf({ help, default: fallback, kind }: Setting): string {
  return fallback === undefined || kind.name === "boolean" ? help : `${help} (default ${fallback})`;
}
