import {
  type Decision,
  explain as explained,
  flagName,
  type ObjectRef,
  objectKey,
  setting,
  type SettingsTable,
} from "@evenkeel/runtime";
import { faultLine, NothingKnown, Refused, WrongUsage } from "../errors.ts";
import { foreignKind, foreignObject } from "../foreign-object.ts";
import { type NamedObject, namedObject } from "../object-argument.ts";
import { Reach, type ReachedService } from "../reach/reach.ts";
import type { ExplainedPart, ObjectState, Registration } from "../services/registration.ts";
import { commonSettings } from "../settings.ts";
import { noteMissed, someReached } from "../show/missed.ts";
import { coloured, harmless } from "../show/table.ts";
import { ageText, sentence, valueText } from "../show/words.ts";
import { defineVerb, type Session, type Verb } from "../verb.ts";
import { fieldsOf } from "../wire.ts";

/** How many earlier decisions the table shows; JSON has all that the service returned. */
const SHOWN = 5;

interface Explanation {
  readonly service: ReachedService;
  /** For an object without a decision, its state: it may lack what a decision needs. */
  readonly decision: Decision | ObjectState;
  readonly earlier: readonly Decision[];
  readonly recorded: boolean;
  /** What the service measures now, in sentences. */
  readonly now: readonly string[];
}

const own = {
  ...commonSettings,
  namespace: setting.text({
    optional: true,
    aliases: ["n"],
    help: "Namespace of the object, if its name has none",
  }),
};

/** The verb with the flags of every service that explains parts of its objects. */
export function explain(registrations: readonly Registration[]): Verb {
  const parts = registrations.flatMap((one) => one.part ?? []);
  const flags: SettingsTable = Object.fromEntries(parts.flatMap(({ settings }) => Object.entries(settings)));
  return defineVerb({
    name: "explain",
    usage: ["<kind>/<namespace>/<name>", "<kind> <namespace>/<name>"],
    summary: "Explains the last decision about an object",
    details: ["Exits 1 if no service knows the object."],
    settings: { ...flags, ...own },
    words: { least: 1, most: 2 },
    run: async (session, settings, words) => {
      const named = namedObject(words, session.registrations, settings.namespace);
      const asked = parts.find(({ isAsked }) => isAsked(settings));
      if (asked !== undefined && asked.kind !== named.object.kind) {
        const given = Object.keys(asked.settings).map((key) => `--${flagName(key)}`);
        throw new WrongUsage({ fault: `${given.join(", ")} is for ${asked.kind} only` });
      }
      await using reach = new Reach(session, settings);
      const services = await reach.services();
      const reached = someReached(session.screen, services);
      // Only its own service is asked about a registered kind. Any service may know an object of another kind.
      const { registration } = named;
      const able = reached.filter((one) => registration === undefined || one.registration === registration);
      if (asked !== undefined && able[0] !== undefined) {
        return showPart(
          session,
          able[0],
          named.object,
          await asked.ask(able[0].client, named.object, settings),
          settings,
        );
      }
      const known = reached.flatMap((one) => one.registration ?? []);
      const foreign = registration === undefined ? foreignKind(named.object.kind, known) : undefined;
      const service = reached.find((one) => foreign !== undefined && one.registration === foreign.registration);
      const explanation = foreign?.registration.foreign;
      if (foreign !== undefined && service !== undefined && explanation !== undefined) {
        const object = await foreignObject(named.object, foreign, () => reach.namespace());
        return showPart(session, service, object, await explanation.ask(service.client, object), settings);
      }
      return await explainObject(session, services.missed, able, named, settings.output);
    },
  });
}

async function explainObject(
  session: Session,
  missed: Parameters<typeof noteMissed>[1],
  asked: readonly ReachedService[],
  { object, registration }: NamedObject,
  output: "table" | "json",
): Promise<0> {
  const key = objectKey(object);
  const answers = await Promise.all(asked.map((service) => ask(service, object)));
  const [found] = answers.filter((answer) => answer !== undefined);
  if (found === undefined) {
    noteMissed(session.screen, missed);
    const names = asked.map(({ name }) => name).join(", ");
    const who =
      asked.length === 0 ? `${registration?.name ?? ""} does not answer` : `${names} has no decision about it`;
    throw new NothingKnown({ what: `${key} is unknown: ${who}` });
  }
  if (output === "json") {
    const { service, ...answer } = found;
    session.screen.json({ service: service.name, object: key, ...answer });
  } else show(session, key, found);
  return 0;
}

function showPart(
  { screen }: Session,
  { name }: ReachedService,
  object: ObjectRef,
  { lines, answer }: ExplainedPart,
  { output }: { readonly output: "table" | "json" },
): 0 {
  const key = objectKey(object);
  if (output === "json") screen.json({ service: name, object: key, ...answer });
  else
    screen.lines(`${coloured(key, "good", screen.paper)} (${name})`, "", ...lines.map((line) => `  ${harmless(line)}`));
  return 0;
}

async function ask(service: ReachedService, object: ObjectRef): Promise<Explanation | undefined> {
  const { client } = service;
  try {
    const answer = fieldsOf(await client.get("Decisions/Explain", { object: objectKey(object) }));
    const decision = client.decisionOf(answer["decision"]);
    const earlier = client.decisionsOf(answer["earlier"]);
    return { service, decision, earlier, recorded: answer["recorded"] === true, now: await present(service, object) };
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undecided(service, object);
    throw error;
  }
}

/** What is known of an object without a decision. */
async function undecided(service: ReachedService, object: ObjectRef): Promise<Explanation | undefined> {
  const { registration, client } = service;
  const states = (await registration?.objects(client, object.namespace)) ?? [];
  const decision = states.find((state) => objectKey(state.object) === objectKey(object));
  return decision && { service, decision, earlier: [], recorded: false, now: await present(service, object) };
}

/** The decision is shown even if the service does not report what it measures. */
async function present({ registration, client }: ReachedService, object: ObjectRef): Promise<readonly string[]> {
  try {
    return (await registration?.describe(client, object)) ?? [];
  } catch (error) {
    return [`Current measurements are unknown: ${faultLine(error, explained(error))}.`];
  }
}

function show(
  { screen, clock }: Session,
  key: string,
  { service, decision, earlier, recorded, now }: Explanation,
): void {
  const { registration, name } = service;
  const value = registration?.value ?? "its value";
  screen.lines(`${coloured(key, "good", screen.paper)} (${name})`, "");
  if (isDecided(decision)) {
    const age = ageText(decision.at, clock.now());
    screen.lines(`  ${capital(outcome(value, decision))}, decided ${age} ago, at ${decision.at}.`);
  } else screen.lines("  No decision yet.");
  screen.lines(`  ${[decision.reason, harmless(sentence(decision.message))].filter((part) => part !== "").join(": ")}`);
  if (decision.dryRun === true) screen.lines("  Dry run: the decision was reported, and nothing was changed.");
  for (const line of now) screen.lines(`  ${harmless(line)}`);
  if (earlier.length > 0) {
    screen.lines("", "Earlier decisions:");
    const columns = [{ title: "AGE", right: true }, ...["ACTION", "REASON", "MESSAGE"].map((title) => ({ title }))];
    const rows = earlier
      .slice(0, SHOWN)
      .map((one) => [ageText(one.at, clock.now()), one.action, one.reason, one.message]);
    screen.table(columns, rows);
  }
  if (recorded && isDecided(decision)) {
    screen.lines("", `Save the inputs of this decision: kubectl evenkeel snapshot ${decision.id}`);
  }
}

function isDecided(decision: Explanation["decision"]): decision is Decision {
  return "id" in decision;
}

/** "the weight went from 12 to 16", "the weight stays 16", "the weight is unknown". */
function outcome(value: string, { before, after }: Decision): string {
  const [was, is] = [valueText(before), valueText(after)];
  if (is === "") return `${value} is unknown`;
  if (was === is) return `${value} stays ${is}`;
  return was === "" ? `${value} is ${is}, the first` : `${value} went from ${was} to ${is}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
