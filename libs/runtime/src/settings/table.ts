import * as kinds from "./kinds.ts";
import type { Kind } from "./kinds.ts";

/** One line of a service's settings table; `Value` is what the service reads. */
export interface Setting<Value = unknown> {
  readonly kind: Kind<unknown>;
  readonly help: string;
  /** The default as a user would write it. */
  readonly default: string | undefined;
  readonly presence: "required" | "optional" | "defaulted";
  /** Further names: those that users of the original project have. */
  readonly env: readonly string[];
  readonly aliases: readonly string[];
  /** Never printed, never logged. */
  readonly secret: boolean;
  /** Type only: carries `Value` to `SettingsOf`. */
  readonly value?: Value;
}

export type SettingsTable = Readonly<Record<string, Setting>>;

export type SettingsOf<T extends SettingsTable> = {
  readonly [Key in keyof T]: T[Key] extends Setting<infer Value> ? Value : never;
};

interface Line {
  /** One sentence, without a full stop. */
  readonly help: string;
  readonly env?: readonly string[];
  readonly aliases?: readonly string[];
  readonly secret?: boolean;
}

/**
 * Exactly one of: `default` as the user would write it, `optional: true`, or neither, which makes the setting required.
 */
type Required = Line & { readonly default?: never; readonly optional?: never };
type Optional = Line & { readonly default?: never; readonly optional: true };
type Defaulted = Line & { readonly default: string; readonly optional?: never };

/** Declares a setting of one kind. */
interface Declare<T> {
  (line: Required | Defaulted): Setting<T>;
  (line: Optional): Setting<T | undefined>;
}

function declare<T>(kind: Kind<T>): Declare<T> {
  return (line: Required | Optional | Defaulted) => {
    const { help, env = [], aliases = [], secret = false } = line;
    if (line.default !== undefined && kind.parse(line.default) === undefined) {
      throw new TypeError(`The default "${line.default}" is not ${kind.takes} (${help})`);
    }
    const presence = line.optional ? "optional" : line.default === undefined ? "required" : "defaulted";
    return { kind, help, default: line.default, presence, env, aliases, secret };
  };
}

export const setting = {
  text: declare(kinds.textKind),
  boolean: declare(kinds.booleanKind),
  port: declare(kinds.portKind),
  bindPort: declare(kinds.bindPortKind),
  /** Milliseconds. */
  duration: declare(kinds.durationKind),
  /** Milliseconds above 0; a number without a unit is in seconds. */
  interval: declare(kinds.intervalKind),
  bytes: declare(kinds.bytesKind),
  url: declare(kinds.urlKind),
  list: declare(kinds.listKind),
  integer: (least: number, most: number) => declare(kinds.integerKind(least, most)),
  choice: <const Choice extends string>(...choices: readonly Choice[]) => declare(kinds.choiceKind(choices)),
};

/** `shutdownDelay` → `shutdown-delay`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The variables of a setting, the project's own first: `shutdownDelay` → `EVENKEEL_SHUTDOWN_DELAY`. */
export function variableNames(key: string, { env }: Setting): readonly string[] {
  return [`EVENKEEL_${flagName(key).replaceAll("-", "_").toUpperCase()}`, ...env];
}
