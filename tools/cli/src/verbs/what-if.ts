import { objectKey, setting, type SettingsTable } from "@evenkeel/runtime";
import { NothingKnown, WrongUsage } from "../errors.ts";
import { foreignKind, foreignObject } from "../foreign-object.ts";
import { namedObject } from "../object-argument.ts";
import { Reach } from "../reach/reach.ts";
import type { Registration } from "../services/registration.ts";
import { commonSettings } from "../settings.ts";
import { noteMissed, someReached } from "../show/missed.ts";
import { harmless } from "../show/table.ts";
import { sentence, valueText } from "../show/words.ts";
import { defineVerb, type Verb } from "../verb.ts";

const own = {
  ...commonSettings,
  namespace: setting.text({ optional: true, aliases: ["n"], help: "Namespace of the object, if its name has none" }),
};

/** The verb with the flags of every service that supports it. */
export function whatIf(registrations: readonly Registration[]): Verb {
  const suppositions = registrations.flatMap((one) => one.whatIf ?? []);
  const flags: SettingsTable = Object.fromEntries(suppositions.flatMap(({ settings }) => Object.entries(settings)));
  return defineVerb({
    name: "what-if",
    usage: suppositions.flatMap(({ kinds }) => kinds.map((kind) => `${kind.toLowerCase()}/<namespace>/<name>`)),
    summary: "Simulates a decision with other inputs; changes nothing",
    settings: { ...flags, ...own },
    words: { least: 1, most: 2 },
    run: async (session, settings, words) => {
      const named = namedObject(words, session.registrations, settings.namespace);
      const foreign =
        named.registration === undefined ? foreignKind(named.object.kind, session.registrations) : undefined;
      const registration = named.registration ?? foreign?.registration;
      const asked = registration?.whatIf;
      if (registration === undefined || asked?.kinds.includes(foreign?.kind.kind ?? named.object.kind) !== true) {
        const kinds = suppositions.flatMap((one) => one.kinds).join(", ");
        const fault = `what-if does not support ${objectKey(named.object)}, only ${kinds}; use \`explain\``;
        throw new WrongUsage({ fault });
      }
      const fault = asked.check(settings);
      if (fault !== undefined) throw new WrongUsage({ fault });
      await using reach = new Reach(session, settings);
      const services = await reach.services();
      const service = someReached(session.screen, services).find((one) => one.registration === registration);
      if (service === undefined) {
        noteMissed(session.screen, services.missed);
        throw new NothingKnown({ what: `${registration.name} does not answer` });
      }
      const object =
        foreign === undefined ? named.object : await foreignObject(named.object, foreign, () => reach.namespace());
      const answer = await asked.ask(service.client, object, settings);
      if (settings.output === "json") {
        const { details, ...outcome } = answer;
        session.screen.json({ service: service.name, object: objectKey(object), ...outcome, ...details });
        return 0;
      }
      const { before, after, reason, message } = answer;
      const [was, would] = [valueText(before), valueText(after)];
      const change =
        was === would ? `would stay ${would}` : `would ${was === "" ? "become" : `go from ${was} to`} ${would}`;
      session.screen.lines(
        `With ${asked.supposed(settings)}, ${asked.value ?? registration.value} of ${objectKey(object)} ${change}.`,
        `${reason}: ${harmless(sentence(message))}`,
        "Nothing was changed.",
      );
      return 0;
    },
  });
}
