import { type Decision, explain, objectKey, setting } from "@evenkeel/runtime";
import { faultLine } from "../errors.ts";
import { samplesOf } from "../exposition.ts";
import { type MissedService, Reach, type ReachedService } from "../reach/reach.ts";
import type { ObjectState } from "../services/registration.ts";
import { commonSettings } from "../settings.ts";
import type { Cell } from "../show/table.ts";
import { ageText, spanText, valueText } from "../show/words.ts";
import { defineVerb, type Session } from "../verb.ts";

/** How many decisions are read for the values before the change: the most that a service returns. */
const LOOK_BACK = 1000;

interface ServiceRow {
  readonly service: string;
  readonly place: string;
  readonly state: "ready" | "not ready" | "down" | "not installed";
  readonly version: string | null;
  /** Whether the replica that answered is the leader; null without leader election. */
  readonly leader: boolean | null;
  readonly uptimeMilliseconds: number | null;
  readonly message: string;
}

interface ObjectRow {
  readonly service: string;
  readonly object: string;
  readonly reason: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly at: string | null;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly message: string;
}

interface Report {
  readonly row: ServiceRow;
  readonly objects: readonly ObjectRow[];
}

export const status = defineVerb({
  name: "status",
  usage: [""],
  summary: "Shows every service, and the state of each of its objects with the reason",
  details: ["Exits 1 if a service is down, is not ready or does not list its objects."],
  settings: {
    ...commonSettings,
    namespace: setting.text({ optional: true, aliases: ["n"], help: "Show objects of this namespace only" }),
  },
  words: { least: 0, most: 0 },
  run: async (session, settings) => {
    await using reach = new Reach(session, settings);
    const { reached, missed } = await reach.services();
    const reports = await Promise.all(reached.map((service) => report(service, settings.namespace)));
    const services = [...reports.map(({ row }) => row), ...missed.map(missedRow)];
    const objects = reports.flatMap((one) => one.objects);
    if (settings.output === "json") session.screen.json({ services, objects });
    else show(session, services, objects);
    const anyInstalled = services.some(({ state }) => state !== "not installed");
    return anyInstalled && services.every(({ state }) => state === "ready" || state === "not installed") ? 0 : 1;
  },
});

async function report(service: ReachedService, namespace: string | undefined): Promise<Report> {
  const { name, client, status: process } = service;
  const unready = process.unready.map((part) => `${part.name}: ${part.reason}`).join("; ");
  const row = {
    service: name,
    place: client.place,
    state: unready === "" ? "ready" : "not ready",
    version: process.version,
    leader: await leads(service),
    uptimeMilliseconds: process.uptime,
    message: unready,
  } as const;
  try {
    return { row, objects: await objectRows(service, namespace) };
  } catch (error) {
    return { row: { ...row, state: "not ready", message: faultLine(error, explain(error)) }, objects: [] };
  }
}

async function leads({ client }: ReachedService): Promise<boolean | null> {
  try {
    const terms = samplesOf(await client.text("/metrics", {}, "text/plain"), "leader_election_master_status");
    return terms.length === 0 ? null : terms.some(({ value }) => value === 1);
  } catch {
    // One cell of the row; `doctor` reports why /metrics does not answer.
    return null;
  }
}

async function objectRows(service: ReachedService, namespace: string | undefined): Promise<readonly ObjectRow[]> {
  const { name, client, registration } = service;
  const decisions = await client.decisions({ limit: LOOK_BACK });
  const newest = new Map<string, Decision>();
  for (const decision of decisions.toReversed()) newest.set(objectKey(decision.object), decision);
  const states: readonly ObjectState[] = await (registration?.objects(client, namespace) ?? [...newest.values()]);
  return states
    .filter(({ object }) => namespace === undefined || object.namespace === namespace)
    .map(({ object, reason, message, after, at = null, dryRun = false, paused = false }) => {
      const key = objectKey(object);
      const before = newest.get(key)?.before ?? null;
      return { service: name, object: key, reason, before, after, at, dryRun, paused, message };
    })
    .sort((a, b) => a.object.localeCompare(b.object));
}

function missedRow({ name, place, error, installed }: MissedService): ServiceRow {
  return {
    ...{ service: name, place, state: installed ? "down" : "not installed" },
    ...{ version: null, leader: null, uptimeMilliseconds: null, message: faultLine(error, explain(error)) },
  };
}

const tones = { ready: "good", "not ready": "warning", down: "bad", "not installed": "quiet" } as const;

function show({ screen, clock }: Session, services: readonly ServiceRow[], objects: readonly ObjectRow[]): void {
  const serviceColumns = ["SERVICE", "STATE", "VERSION", "LEADER", "UP", "MESSAGE"].map((title) => ({ title }));
  const serviceCells = services.map((row): readonly Cell[] => {
    const { service, state, version, leader, uptimeMilliseconds: up, message } = row;
    const leading = leader === null ? "" : leader ? "yes" : "no";
    const since = up === null ? "" : spanText(up);
    return [service, { text: state, tone: tones[state] }, version ?? "", leading, since, message];
  });
  screen.table(serviceColumns, serviceCells);
  screen.lines("");
  if (objects.length === 0) {
    screen.lines("No objects.");
    return;
  }
  const columns = [
    ...[{ title: "OBJECT" }, { title: "SERVICE" }, { title: "REASON" }],
    ...[
      { title: "BEFORE", right: true },
      { title: "AFTER", right: true },
      { title: "AGE", right: true },
    ],
    { title: "MESSAGE" },
  ];
  const cells = objects.map(({ object, service, reason, before, after, at, dryRun, paused, message }) => {
    const marks = [...(paused ? ["paused"] : []), ...(dryRun ? ["dry run"] : [])];
    const said = marks.length === 0 ? message : `(${marks.join(", ")}) ${message}`;
    const age = ageText(at ?? undefined, clock.now());
    return [object, service, reason, valueText(before), valueText(after), age, said];
  });
  screen.table(columns, cells);
}
