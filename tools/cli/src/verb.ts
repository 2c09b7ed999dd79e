import type { Clock, Environment, SettingsOf, SettingsTable } from "@evenkeel/runtime";
import type { Registration } from "./services/registration.ts";
import type { Screen } from "./show/screen.ts";

/** 0: success. 1: a problem was found, or a request was refused. 2: invalid usage. */
export type ExitCode = 0 | 1 | 2;

/** What every verb has at hand. */
export interface Session {
  readonly version: string;
  /** The address of the main module, which threads run too. */
  readonly program: string;
  readonly registrations: readonly Registration[];
  readonly screen: Screen;
  /** Standard input; opened when it is called. */
  readonly input: () => AsyncIterable<Buffer | string>;
  readonly env: Environment;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Aborts with Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Verb<T extends SettingsTable = SettingsTable> {
  readonly name: string;
  /** What follows the name, such as `<kind>/<namespace>/<name>`; one a line of help. */
  readonly usage: readonly string[];
  /** One line. */
  readonly summary: string;
  /** Further lines of its help. */
  readonly details?: readonly string[];
  readonly settings: T;
  /** How many words it takes after its name. */
  readonly words: { readonly least: number; readonly most: number };
  /** The exit code if it fails, where 1 is an answer. */
  readonly failure?: ExitCode;
  readonly run: (session: Session, settings: SettingsOf<T>, words: readonly string[]) => Promise<ExitCode>;
}

/** Keeps the flags' types inside of a verb and out of the list of verbs. */
export function defineVerb<const T extends SettingsTable>(verb: Verb<T>): Verb {
  return verb as unknown as Verb;
}
