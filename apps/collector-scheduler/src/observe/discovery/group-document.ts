import { parse } from "yaml";
import { lengthOfLabels, LONGEST_LABELS, partsOf, type TargetGroup } from "../target-group.ts";

/** Bytes of a file or an answer that are read at most. */
export const LARGEST_DOCUMENT = 32 * 1024 * 1024;
/** Targets of one file or answer at most. */
const MOST_TARGETS = 200_000;

/** Reads groups of targets as files and HTTP servers give them: `[{targets: ["host:1"], labels: {a: b}}]`. */
export function jsonGroups(text: string, origin: string, label: string): readonly TargetGroup[] {
  return groupsOf(JSON.parse(text), origin, label);
}

/** As `jsonGroups`. Every scalar of YAML is a text here, so that `port: 80` is a label. */
export function yamlGroups(text: string, origin: string, label: string): readonly TargetGroup[] {
  return groupsOf(parse(text, { schema: "failsafe", logLevel: "silent" }), origin, label);
}

/** Groups with the sources `origin:0`, `origin:1`…, each with `origin` as `label`. */
function groupsOf(document: unknown, origin: string, label: string): readonly TargetGroup[] {
  if (document === null || document === undefined || document === "") return [];
  if (!Array.isArray(document)) throw new Error("expected a list of target groups");
  let count = 0;
  return document.flatMap((group: unknown, index) => {
    const fail = (what: string) => new Error(`target group ${index}: ${what}`);
    if (!isFields(group)) throw fail("expected targets and labels");
    const unknown = Object.keys(group).find((field) => field !== "targets" && field !== "labels");
    if (unknown !== undefined) throw fail(`unknown field ${JSON.stringify(unknown)}`);
    const targets = orElse(group["targets"], []);
    const labels = orElse(group["labels"], {});
    if (!Array.isArray(targets) || !targets.every((target) => typeof target === "string"))
      throw fail("targets is not a list of texts");
    if (!isFields(labels)) throw fail("labels is not a map of texts");
    const bad = Object.entries(labels).find(([name, value]) => name === "" || typeof value !== "string");
    if (bad) throw fail(`label ${JSON.stringify(bad[0])} is not a name with a text`);
    if (lengthOfLabels(labels as Readonly<Record<string, string>>) > LONGEST_LABELS)
      throw fail(`its labels have at most ${LONGEST_LABELS} characters`);
    if (targets.some(({ length }) => length > LONGEST_LABELS))
      throw fail(`a target has at most ${LONGEST_LABELS} characters`);
    count += targets.length;
    if (count > MOST_TARGETS) throw fail(`all groups together have at most ${MOST_TARGETS} targets`);
    return partsOf({
      source: `${origin}:${index}`,
      labels: new Map([...(Object.entries(labels) as [string, string][]), [label, origin]]),
      targets: targets.map((address: string) => new Map([["__address__", address]])),
    });
  });
}

function orElse(value: unknown, fallback: object): unknown {
  return value === undefined || value === null || value === "" ? fallback : value;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
