import { readFile } from "node:fs/promises";
import { explain, objectKey, parseRecording, replay as decideAgain, runtimeErrors } from "@evenkeel/runtime";
import { WrongUsage } from "../errors.ts";
import type { Registration } from "../services/registration.ts";
import { outputSettings } from "../settings.ts";
import { harmless } from "../show/table.ts";
import { sentence, valueText } from "../show/words.ts";
import { defineVerb } from "../verb.ts";
import { fieldsOf, textOf } from "../wire.ts";

export const replay = defineVerb({
  name: "replay",
  usage: ["<file>"],
  summary: "Repeats a recorded decision with the code of this program, without a service",
  details: [
    "- reads standard input. Exits 0 if the decision is the same, 1 if it differs, 2 if the file is not a recording.",
  ],
  settings: outputSettings,
  words: { least: 1, most: 1 },
  run: async ({ screen, registrations, input, version }, { output }, words) => {
    const [file = ""] = words;
    const text = await (file === "-" ? whole(input()) : readFile(file, "utf8")).catch((cause: unknown) => {
      throw new WrongUsage({ fault: `cannot read ${file}: ${explain(cause)}` });
    });
    const registration = registrationOf(file, text, registrations);
    const recording = parseRecording(file, text, registration.name);
    const { same, verdict } = decideAgain(await registration.decider(), recording);
    const { decision } = recording;
    const versions = { recordedBy: recording.version, decidedBy: version };
    if (output === "json") {
      screen.json({ same, service: registration.name, ...versions, recorded: decision, verdict });
      return same ? 0 : 1;
    }
    const told = ({ action, reason, before, after, message }: typeof verdict) =>
      `${action}, ${reason}, ${valueText(before) || "unknown"} → ${valueText(after) || "unknown"}: ${harmless(sentence(message))}`;
    screen.lines(
      `${registration.name} ${versions.recordedBy} decided about ${objectKey(decision.object)} at ${decision.at}:`,
      `  ${told(decision)}`,
      `${registration.name} ${versions.decidedBy} decides:`,
      `  ${told(verdict)}`,
      `The decision ${same ? "is the same as" : "differs from"} the recorded one (${decision.id}).`,
    );
    return same ? 0 : 1;
  },
});

async function whole(chunks: AsyncIterable<Buffer | string>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of chunks) text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** The service of a recording. */
function registrationOf(file: string, text: string, registrations: readonly Registration[]): Registration {
  const service = textOf(fieldsOf(parsed(file, text))["service"]);
  const registration = registrations.find(({ name }) => name === service);
  if (registration !== undefined) return registration;
  const fault =
    service === "" ? "it is not a recording of a decision" : `it is of ${service}, which this program does not know`;
  throw new runtimeErrors.BadRecording({ file, fault });
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new runtimeErrors.BadRecording({ file, fault: `it is not JSON (${explain(cause)})` });
  }
}
