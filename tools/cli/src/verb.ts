import type { Clock, Environment, SettingsOf, SettingsTable } from "@evenkeel/runtime";
import type { Registration } from "./services/registration.ts";
import type { Screen } from "./show/screen.ts";

/** 0: success. 1: a problem was found, or a request was refused. 2: invalid usage. */
export type ExitCode = 0 | 1 | 2;

/** Available to every verb. */
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
  /** The arguments, such as `<kind>/<namespace>/<name>`; one per line of help. */
  readonly usage: readonly string[];
  /** One line. */
  readonly summary: string;
  /** Further lines of its help. */
  readonly details?: readonly string[];
  readonly settings: T;
  /** Number of words after its name. */
  readonly words: { readonly least: number; readonly most: number };
  /** The exit code of a failure if 1 is a result. */
  readonly failure?: ExitCode;
  readonly run: (session: Session, settings: SettingsOf<T>, words: readonly string[]) => Promise<ExitCode>;
}

/** Keeps the types of the flags inside a verb and out of the list of verbs. */
export function defineVerb<const T extends SettingsTable>(verb: Verb<T>): Verb {
  return verb as unknown as Verb;
}
