import { readFile } from "node:fs/promises";
import type { MetricTable } from "@evenkeel/metrics";
import { type Clock, systemClock } from "./clock.ts";
import { type Decider, parseRecording, replay } from "./decision/index.ts";
import { CodedError, explain } from "./error.ts";
import { BadRecording, BadSettings, Internal, NotTheSame, UnknownVerb, WrongWords } from "./errors.ts";
import type { Host } from "./host.ts";
import { Service, type ServiceDefinition, type ServiceSettings } from "./service.ts";
import { readSettings, splitCommandLine } from "./settings/index.ts";
import { helpText, settingLines, showSettings } from "./settings/show.ts";

const verbs = {
  "replay <file>": "Decides again on a recorded snapshot; exits 0 if the decision is the same, 1 if it differs",
};

/**
 * A service's whole main: reads the command line, answers `--help`, `--version`, `--print-settings` and `replay`, or
 * lets `compose` put the service together and runs it. Exits 0 after an orderly stop, 1 after a failure, 2 for a
 * command line that cannot be meant.
 */
export async function main<T extends ServiceSettings, M extends MetricTable, D extends Decider>(
  definition: ServiceDefinition<T, M, D>,
  host: Host,
  compose: (service: Service<T, M, D>) => void | Promise<void>,
  clock: Clock = systemClock,
): Promise<void> {
  try {
    host.exit(await command(definition, host, compose, clock));
  } catch (error) {
    const code = error instanceof CodedError ? error.code : Internal.entry.code;
    complain(definition.name, host, { code, message: explain(error) });
    host.exit(1);
  }
}

async function command<T extends ServiceSettings, M extends MetricTable, D extends Decider>(
  definition: ServiceDefinition<T, M, D>,
  host: Host,
  compose: (service: Service<T, M, D>) => void | Promise<void>,
  clock: Clock,
): Promise<number> {
  const { name, version, settings: table } = definition;
  const { words, flags } = splitCommandLine(table, host.argv.slice(2));
  const asked = (...names: string[]) => flags.some((flag) => names.includes(flag.name));

  if (asked("help", "h")) return print(host, helpText(definition, table, verbs));
  if (asked("version")) return print(host, `${name} ${version}\n`);
  const [verb, file, ...rest] = words;
  if (verb === "replay" && (file === undefined || rest.length > 0)) {
    return refuse(name, host, [new WrongWords({ verb, usage: `${name} replay <file>` })]);
  }
  if (verb === "replay" && file !== undefined) return replayFile(definition, file, host);
  if (verb !== undefined) return refuse(name, host, [new UnknownVerb({ verb: words.join(" ") })]);

  const reading = readSettings(table, flags, host.env);
  const faults = reading.ok ? (definition.contradictions?.(reading.settings) ?? []) : reading.faults;
  if (!reading.ok || faults.length > 0) {
    return refuse(
      name,
      host,
      faults.map((fault) => new BadSettings({ fault })),
    );
  }
  if (asked("print-settings")) {
    return print(host, settingLines(showSettings(table, reading.settings, reading.sources)));
  }
  const service = new Service(definition, reading, host, clock);
  await compose(service);
  return service.run();
}

async function replayFile(
  { name, decider }: { readonly name: string; readonly decider: Decider },
  file: string,
  host: Host,
): Promise<number> {
  try {
    const text = await readFile(file, "utf8").catch((cause: unknown) => {
      throw new BadRecording({ file, fault: explain(cause) }, { cause });
    });
    const recording = parseRecording(file, text, name);
    const { same, verdict } = replay(decider, recording);
    print(host, `${JSON.stringify(verdict, undefined, 2)}\n`);
    if (same) return print(host, `the same decision as recorded (${recording.decision.id})\n`);
    print(host, `recorded:\n${JSON.stringify(recording.decision, undefined, 2)}\n`);
    complain(name, host, new NotTheSame({ version: recording.version }));
    return 1;
  } catch (error) {
    if (error instanceof CodedError) return refuse(name, host, [error]);
    throw error;
  }
}

function print(host: Host, text: string): 0 {
  host.stdout.write(text);
  return 0;
}

function refuse(name: string, host: Host, errors: readonly CodedError[]): 2 {
  for (const error of errors) complain(name, host, error);
  return 2;
}

/** One line, whatever the message repeats of the command line. */
function complain(name: string, host: Host, { code, message }: Pick<CodedError, "code" | "message">): void {
  host.stderr.write(`${name}: ${code}: ${message.replaceAll(/\s+/g, " ")}\n`);
}
