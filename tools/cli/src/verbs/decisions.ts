import { CodedError, type Decision, durationText, explain, objectKey, setting } from "@evenkeel/runtime";
import { faultLine } from "../errors.ts";
import { namedObject } from "../object-argument.ts";
import { Reach, type ReachedService } from "../reach/reach.ts";
import type { Parameters } from "../reach/service-client.ts";
import { commonSettings } from "../settings.ts";
import { noteMissed, someReached } from "../show/missed.ts";
import type { Column } from "../show/table.ts";
import { valueText } from "../show/words.ts";
import { followDecisions } from "../stream/following.ts";
import { defineVerb, type ExitCode, type Session } from "../verb.ts";

const LISTED = 100;
const BEFORE_FOLLOWING = 10;

const columns: readonly Column[] = [
  ...["TIME", "SERVICE", "OBJECT", "ACTION", "REASON"].map((title) => ({ title })),
  ...[
    { title: "BEFORE", right: true },
    { title: "AFTER", right: true },
  ],
  ...["ID", "MESSAGE"].map((title) => ({ title })),
];

/** Minimum widths while following, so that later rows stay aligned. */
const usualWidths: Readonly<Record<string, number>> = { OBJECT: 24, ACTION: 8, REASON: 16 };

interface Made {
  readonly service: string;
  readonly decision: Decision;
}

export const decisions = defineVerb({
  name: "decisions",
  usage: ["", "-f"],
  summary: "Lists the last decisions of all services, or follows new ones",
  details: [
    "The list starts with the newest. With -f the newest comes last, and Ctrl-C ends it with exit code 0.",
    "With -f -o json, each decision is one line. A broken stream is reopened, and no decision is shown twice.",
  ],
  settings: {
    ...commonSettings,
    follow: setting.boolean({ default: "false", aliases: ["f"], help: "Wait for new decisions and show them" }),
    object: setting.text({ optional: true, help: "Only decisions about this object: kind/namespace/name" }),
    action: setting.text({ optional: true, help: "Only decisions with this action" }),
    reason: setting.text({ optional: true, help: "Only decisions with this reason" }),
    limit: setting.integer(
      1,
      1000,
    )({ default: String(LISTED), help: `Number of past decisions; with -f ${BEFORE_FOLLOWING} unless set` }),
  },
  words: { least: 0, most: 0 },
  run: async (session, settings) => {
    const { screen, registrations } = session;
    const { object, action, reason, follow: following, output } = settings;
    const named = object === undefined ? undefined : namedObject([object], registrations, undefined);
    const filter: Parameters = {
      ...(named && { object: objectKey(named.object) }),
      ...(action !== undefined && { action }),
      ...(reason !== undefined && { reason }),
    };
    await using reach = new Reach(session, settings);
    const services = await reach.services();
    const reached = someReached(screen, services);
    noteMissed(screen, services.missed);
    const limit = following && settings.limit === LISTED ? BEFORE_FOLLOWING : settings.limit;
    if (following) return await follow(session, reached, { ...filter, last: limit }, output);
    const lists = await Promise.all(reached.map((service) => list(service, filter, limit)));
    const made = lists.flat().sort(newestFirst).slice(0, limit);
    if (output === "json") screen.json({ decisions: made.map(flat) });
    else if (made.length === 0) screen.lines("No decisions.");
    else screen.table(columns, made.map(rowOf));
    return services.missed.some(({ installed }) => installed) ? 1 : 0;
  },
});

async function list({ name, client }: ReachedService, filter: Parameters, limit: number): Promise<readonly Made[]> {
  return (await client.decisions({ ...filter, limit })).map((decision) => ({ service: name, decision }));
}

function newestFirst(one: Made, other: Made): number {
  return Date.parse(other.decision.at) - Date.parse(one.decision.at);
}

/** Follows every service at once. The decisions of each stay in order. Ends when one of them refuses permanently. */
async function follow(
  session: Session,
  reached: readonly ReachedService[],
  { last, ...filter }: Parameters & { readonly last: number },
  output: "table" | "json",
): Promise<ExitCode> {
  const { screen, clock, random, signal } = session;
  const writer = screen.writer(columns.map((column) => ({ ...column, least: usualWidths[column.title] ?? 0 })));
  await Promise.all(
    reached.map(async ({ name, client }) => {
      const feed = {
        place: client.place,
        open: (past: number) => client.open("Decisions/Watch", { ...filter, last: past }),
        decisionOf: (value: unknown) => client.decisionOf(value),
      };
      const onOutage = (error: unknown, wait: number) => {
        const again = `retrying in ${durationText(wait)}`;
        screen.note(
          `${name}: ${error instanceof CodedError ? faultLine(error, explain(error)) : explain(error)}; ${again}`,
        );
      };
      const onReturn = () => screen.note(`${name}: connected again`);
      for await (const decision of followDecisions({ feed, last, clock, random, signal, onOutage, onReturn })) {
        const made = { service: name, decision };
        screen.print(output === "json" ? `${JSON.stringify(flat(made))}\n` : writer.rows([rowOf(made)]));
      }
    }),
  );
  return 0;
}

function flat({ service, decision }: Made): object {
  return { service, ...decision, object: objectKey(decision.object) };
}

function rowOf({ service, decision }: Made): readonly string[] {
  const { at, object, action, reason, before, after, id, message, dryRun } = decision;
  const said = dryRun ? `(dry run) ${message}` : message;
  const time = at.replace(/\.\d+/, "");
  return [time, service, objectKey(object), action, reason, valueText(before), valueText(after), id, said];
}
