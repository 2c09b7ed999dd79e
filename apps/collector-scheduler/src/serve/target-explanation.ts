import { type Labels, seeds } from "@evenkeel/relabel";
import type { collectorsV1 } from "@evenkeel/rpc";
import { faultText } from "../config/fault.ts";
import type { Owners } from "../decide/owners.ts";
import type { Fleet } from "../fleet.ts";
import type { Sighting, TargetQuery } from "../observe/explanation.ts";
import type { Target } from "../observe/target.ts";
import { targetOf } from "../observe/target-of.ts";
import { targetMessage } from "./assignment-page.ts";
import { isoTime } from "./ownership.ts";

/** Sightings, sources and faults in one answer at most. */
const MOST = 20;
/** Characters of labels in one answer, about; a sighting that would exceed them is left out, but never the first. */
const MOST_CHARACTERS = 1_000_000;

/** Why a target is scraped or not. */
export function targetExplanation(fleet: Fleet, owners: Owners, query: TargetQuery): collectorsV1.ExplainResponse {
  const { sightings, found } = fleet.catalogue.explain(query);
  const seen = sightings.map((sighting) => ({ sighting, target: heldTarget(fleet, sighting) }));
  const troubled = fleet.catalogue.sources.filter(({ health }) => !health.answered || health.fault !== undefined);
  const faults = [...(fleet.fault === undefined ? [] : [fleet.fault]), ...fleet.faults.map(faultText)];
  const [first] = seen;
  return {
    message: first === undefined ? notFound(troubled.length, faults.length) : summary(first, owners, fleet),
    sightings: bounded(seen.map(({ sighting, target }) => sightingMessage(sighting, target, owners, fleet))),
    sightingCount: found,
    troubledSources: troubled.slice(0, MOST).map(({ job, mechanism, health: { fault = "", goodAt } }) => ({
      ...{ job, mechanism, fault: withoutQuery(fault) },
      goodAt: goodAt === undefined ? undefined : isoTime(goodAt),
    })),
    configFaults: faults.slice(0, MOST),
  };
}

interface Seen {
  readonly sighting: Sighting;
  readonly target: Target | undefined;
}

/** The target that came of a sighting; undefined if none did, or if it is held back. */
function heldTarget({ catalogue }: Fleet, { job, discovered, outcome }: Sighting): Target | undefined {
  if (outcome.kind !== "kept") return undefined;
  const { identity } = targetOf(job, outcome.labels, { group: new Map(), target: discovered }, () => undefined);
  return catalogue.targets.get(identity);
}

function summary({ sighting: { job, outcome, steps }, target }: Seen, owners: Owners, fleet: Fleet): string {
  if (outcome.kind === "dropped") {
    const rule = JSON.stringify(steps[outcome.rule]?.rule ?? {});
    return `No job keeps it. Job ${job} came nearest: relabel_configs[${outcome.rule}] dropped it, ${rule}`;
  }
  if (outcome.kind === "invalid") return `Job ${job} finds it and cannot scrape it: ${outcome.message}`;
  if (target === undefined) {
    return `Job ${job} keeps it, but it is held back: raise --max-targets, or split the object in two`;
  }
  if (!fleet.catalogue.hasAnswered(job)) {
    return `Job ${job} keeps it; the job is served after all its sources have answered`;
  }
  const { ownership } = targetMessage(target, owners, fleet);
  const served = ownership?.servedTo ?? [];
  const who = served.length === 0 ? "is told to no collector" : `is scraped by ${served.join(" and ")}`;
  return `${target.address} of job ${job} ${who}. ${ownership?.message ?? ""}`;
}

function notFound(troubled: number, faults: number): string {
  const causes = [
    ...(troubled > 0 ? [`${troubled} sources failed or have not answered`] : []),
    ...(faults > 0 ? [`${faults} fields of the configuration cannot be used`] : []),
  ];
  const advice = "check the jobs' discovery: role, namespaces, selectors, and the address";
  return `No source has found it: ${causes.length > 0 ? causes.join(", and ") : advice}`;
}

function sightingMessage(
  { job, mechanism, source, discovered, outcome, steps }: Sighting,
  target: Target | undefined,
  owners: Owners,
  fleet: Fleet,
): collectorsV1.Sighting {
  return {
    ...{ job, mechanism, source: withoutQuery(source) },
    discovered: Object.fromEntries(Array.from(discovered, ([name, value]) => [name, shown(name, value)])),
    steps: stepMessages(new Map([...seedsOf(fleet, job), ...discovered]), steps),
    outcome: outcomeMessage(),
  };

  function outcomeMessage(): collectorsV1.Sighting["outcome"] {
    if (outcome.kind === "dropped") {
      const text = JSON.stringify(steps[outcome.rule]?.rule ?? {});
      return { $case: "dropped", value: { rule: outcome.rule, text } };
    }
    if (outcome.kind === "invalid") {
      return { $case: "invalid", value: { fault: outcome.fault, message: outcome.message } };
    }
    if (target !== undefined) return { $case: "kept", value: targetMessage(target, owners, fleet) };
    const address = outcome.labels.get("__address__") ?? "";
    const labels = Object.fromEntries(outcome.labels);
    return { $case: "kept", value: { job, address, labels, zone: "", node: "", ownership: undefined } };
  }
}

/** Labels that the job gives every target before its rules run. */
function seedsOf({ jobs }: Fleet, key: string): Labels {
  const job = jobs.find((each) => each.key === key);
  const seeded = job === undefined ? [] : seeds(job.scrape);
  return Array.isArray(seeded) ? new Map() : seeded;
}

/** What each rule changed. `first` are the labels before the first rule. */
function stepMessages(first: Labels, steps: Sighting["steps"]): collectorsV1.Step[] {
  let before = first;
  return steps.map(({ rule, labels }, index) => {
    const after = labels ?? before;
    const set = [...after].filter(([name, value]) => before.get(name) !== value);
    const removed = [...before.keys()].filter((name) => !after.has(name));
    before = after;
    const shownSet = set.map(([name, value]) => [name, shown(name, value)] as const);
    return { rule: index, text: JSON.stringify(rule), set: Object.fromEntries(shownSet), removed };
  });
}

function bounded(sightings: readonly collectorsV1.Sighting[]): collectorsV1.Sighting[] {
  const kept: collectorsV1.Sighting[] = [];
  let left = MOST_CHARACTERS;
  for (const sighting of sightings.slice(0, MOST)) {
    left -= JSON.stringify(sighting).length;
    if (left < 0 && kept.length > 0) break;
    kept.push(sighting);
  }
  return kept;
}

/** The URL of an http_sd may hold a token in its query. */
function shown(name: string, value: string): string {
  return name === "__meta_url" ? withoutQuery(value) : value;
}

function withoutQuery(text: string): string {
  return text.replaceAll(/(https?:\/\/[^\s?]*)\?[^\s:]*/g, "$1?…");
}
