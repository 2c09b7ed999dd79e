import {
  type Clock,
  explain,
  type Host,
  readSettings,
  runtimeErrors,
  splitCommandLine,
  systemClock,
  variableNames,
} from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { BadFile, BadPolicy } from "@evenkeel/eviction-planner/observe";
import { faultLine, NothingToPlanOn, WrongUsage } from "./errors.ts";
import { PROGRAM, programHelp, verbHelp } from "./help.ts";
import type { Registration } from "./services/registration.ts";
import { commonSettings } from "./settings.ts";
import { Screen } from "./show/screen.ts";
import type { Session, Verb } from "./verb.ts";
import { backtest } from "./verbs/backtest.ts";
import { decisions } from "./verbs/decisions.ts";
import { doctor } from "./verbs/doctor.ts";
import { explain as explainVerb } from "./verbs/explain.ts";
import { plan } from "./verbs/plan.ts";
import { replay } from "./verbs/replay.ts";
import { snapshot } from "./verbs/snapshot.ts";
import { status } from "./verbs/status.ts";
import { whatIf } from "./verbs/what-if.ts";

/** Errors of the caller, and not of a service or a cluster. */
const BAD_INPUT = [WrongUsage, runtimeErrors.BadRecording, BadFile, BadPolicy, NothingToPlanOn];

/** The exit code after Ctrl-C. */
const INTERRUPTED = 130;

/**
 * The whole program: reads the command line, runs the verb, and resolves with the exit code. Every error is one line on
 * standard error. `program` is the address of the main module.
 */
export async function run(
  host: Host & Pick<NodeJS.Process, "stdin">,
  registrations: readonly Registration[],
  program: string,
  clock: Clock = systemClock,
): Promise<number> {
  const screen = new Screen(host, PROGRAM);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new Error("interrupted"));
  host.on("SIGINT", stop).on("SIGTERM", stop);
  const { version } = packageJson;
  const input = () => host.stdin;
  const common = { version, program, registrations, screen, input, clock, env: host.env, random: Math.random };
  try {
    return await carryOut({ ...common, signal: stopping.signal }, host.argv.slice(2));
  } catch (error) {
    if (stopping.signal.aborted) return INTERRUPTED;
    screen.note(faultLine(error, explain(error)));
    return BAD_INPUT.some((kind) => error instanceof kind) ? 2 : 1;
  } finally {
    host.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

async function carryOut(session: Session, args: readonly string[]): Promise<number> {
  const { screen, version, registrations } = session;
  const verbs = [
    status,
    explainVerb(registrations),
    plan,
    whatIf(registrations),
    backtest,
    decisions,
    snapshot,
    replay,
    doctor,
  ];
  const find = (name: string | undefined): Verb | undefined => verbs.find((one) => one.name === name);
  // Common flags may precede the verb. Whether other flags have a value depends on the verb.
  const { words: named, flags: all } = splitCommandLine(commonSettings, args);
  const [name, ...about] = named;
  const given = (...names: readonly string[]) => all.some((flag) => names.includes(flag.name));
  if (name === undefined && given("version")) return print(screen, `${PROGRAM} ${version}\n`);
  if (name === undefined && (given("help", "h") || all.length === 0)) return print(screen, programHelp(verbs));
  if (name === "help") {
    const asked = find(about[0]);
    return print(screen, asked === undefined ? programHelp(verbs) : verbHelp(asked));
  }
  const verb = find(name);
  if (verb === undefined) {
    const fault = name === undefined ? "no verb" : `unknown verb ${name}`;
    throw new WrongUsage({ fault: `${fault}; use one of ${verbs.map((one) => one.name).join(", ")}` });
  }
  if (given("help", "h")) return print(screen, verbHelp(verb));
  return carryOutVerb(session, verb, args);
}

async function carryOutVerb(session: Session, verb: Verb, args: readonly string[]): Promise<number> {
  const { words, flags } = splitCommandLine(verb.settings, args);
  const known = new Set(Object.entries(commonSettings).flatMap(([key, setting]) => variableNames(key, setting)));
  const env = Object.fromEntries(Object.entries(session.env).filter(([name]) => known.has(name)));
  const reading = readSettings(verb.settings, flags, env);
  // Flags of services, which would have no effect here.
  const foreign = flags.filter(({ name }) => name === "print-settings" || name === "version");
  const faults = [
    ...foreign.map(({ name }) => `--${name}: ${verb.name} has no such flag`),
    ...(reading.ok ? [] : reading.faults),
    ...wordFaults(verb, words.slice(1)),
  ];
  if (!reading.ok || faults.length > 0) {
    for (const fault of faults) session.screen.note(faultLine(new WrongUsage({ fault }), fault));
    return 2;
  }
  const { failure } = verb;
  const running = verb.run(session, reading.settings, words.slice(1));
  if (failure === undefined) return running;
  return running.catch((error: unknown) => {
    if (session.signal.aborted) throw error;
    session.screen.note(faultLine(error, explain(error)));
    return failure;
  });
}

function wordFaults({ name, usage, words: { least, most } }: Verb, words: readonly string[]): readonly string[] {
  if (words.length >= least && words.length <= most) return [];
  const forms = usage.map((rest) => `${PROGRAM} ${name} ${rest}`.trim());
  return [`usage: ${forms.join("; ")}`];
}

function print(screen: Screen, text: string): 0 {
  screen.print(text);
  return 0;
}
