import { sentence } from "../show/words.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Sightings that are shown with their rules; JSON has all that the service returned. */
const SHOWN = 3;
/** Other labels of a discovered target are in JSON. */
const SHOWN_LABELS = /^__address__$|_(namespace|pod_name|service_name|node_name)$/;

/** How `--target` is meant: `shop/web-0` is a pod, `app=web,zone=a` are labels, all else is an address. */
export function targetQuery(text: string): Fields {
  if (/^[a-z0-9][a-z0-9.-]*\/[a-z0-9][a-z0-9.-]*$/.test(text)) return { pod: text };
  return /^[^/:?=]+=/.test(text) ? { labels: text.split(",") } : { address: text };
}

/** collectors.v1.ExplainResponse in lines for a person. */
export function targetLines(answer: Fields): readonly string[] {
  const sightings = listOf(answer["sightings"]).map(fieldsOf);
  const others = (numberOf(answer["sightingCount"]) ?? 0) - Math.min(SHOWN, sightings.length);
  return [
    sentence(textOf(answer["message"])),
    ...sightings.slice(0, SHOWN).flatMap(sightingLines),
    ...(others > 0 ? [`${others} more sightings: see -o json.`] : []),
    ...listOf(answer["troubledSources"]).map((entry) => {
      const { job, mechanism, fault } = fieldsOf(entry);
      return sentence(`${textOf(mechanism)} of job ${textOf(job)}: ${textOf(fault) || "no answer yet"}`);
    }),
    ...listOf(answer["configFaults"]).map((fault) => sentence(`Not used: ${textOf(fault)}`)),
  ];
}

function sightingLines({ job, mechanism, source, discovered, steps, ...outcome }: Fields): readonly string[] {
  const labels = Object.entries(fieldsOf(discovered)).filter(([label]) => SHOWN_LABELS.test(label));
  return [
    `Job ${textOf(job)}: ${textOf(mechanism)} found it by ${textOf(source)} as ${pairs(labels)}.`,
    ...listOf(steps).flatMap((entry) => stepLine(fieldsOf(entry))),
    ...outcomeLines(outcome),
  ];
}

/** Nothing for a rule that changed nothing. */
function stepLine({ rule, set, removed }: Fields): readonly string[] {
  const changes = Object.entries(fieldsOf(set));
  const gone = listOf(removed).map(textOf);
  const said = [
    ...(changes.length > 0 ? [`sets ${pairs(changes)}`] : []),
    ...(gone.length > 0 ? [`removes ${gone.join(", ")}`] : []),
  ];
  return said.length === 0 ? [] : [`- relabel_configs[${numberOf(rule) ?? 0}] ${said.join(" and ")}.`];
}

function outcomeLines({ kept, dropped, invalid }: Fields): readonly string[] {
  if (dropped !== undefined) {
    const { rule, text } = fieldsOf(dropped);
    return [`- relabel_configs[${numberOf(rule) ?? 0}] drops it: ${textOf(text)}.`];
  }
  if (invalid !== undefined) {
    const { fault, message } = fieldsOf(invalid);
    return [`- It is invalid (${textOf(fault)}): ${sentence(textOf(message))}`];
  }
  const { address, ownership } = fieldsOf(kept);
  const { servedTo, since, earlier, message } = fieldsOf(ownership);
  const collectors = listOf(servedTo).map(textOf);
  const from = textOf(since) === "" ? "" : ` since ${textOf(since)}`;
  return [
    `- ${textOf(address)} is scraped by ${collectors.join(" and ") || "no collector"}${from}. ${sentence(textOf(message))}`,
    ...listOf(earlier).map((entry) => {
      const { name, until } = fieldsOf(entry);
      return `- Before: ${textOf(name)}, until ${textOf(until)}.`;
    }),
  ];
}

function pairs(labels: readonly (readonly [string, unknown])[]): string {
  return labels.map(([label, value]) => `${label}="${textOf(value)}"`).join(", ");
}
