import { fieldsOf, listOf, numberOf, textOf } from "../wire.ts";

/** `tokyo 4, osaka 3`, of the parts of placements.v1 Preview, without clusters that have none before and after. */
export function partsText(parts: unknown, when: "before" | "after"): string {
  const shown = listOf(parts)
    .map((entry) => fieldsOf(entry))
    .filter((part) => (numberOf(part["before"]) ?? 0) > 0 || (numberOf(part["after"]) ?? 0) > 0)
    .map((part) => `${textOf(part["cluster"])} ${numberOf(part[when]) ?? 0}`);
  return shown.length === 0 ? "none" : shown.join(", ");
}

/** The answer of placements.v1 Explain, in sentences. */
export function placementLines(answer: Readonly<Record<string, unknown>>): readonly string[] {
  const placement = fieldsOf(answer["placement"]);
  const decision = fieldsOf(answer["decision"]);
  const id = textOf(decision["id"]);
  const replicas = numberOf(placement["replicas"]) ?? 0;
  const policy = Object.entries(fieldsOf(answer["policy"])).map(([name, value]) => `${name}: ${textOf(value)}`);
  return [
    `${replicas} ${replicas === 1 ? "replica" : "replicas"} in all, ${numberOf(placement["ready"]) ?? 0} ready.`,
    ...listOf(placement["places"]).map((place) => placeLine(fieldsOf(place))),
    ...(policy.length === 0 ? [] : [`Its annotations: ${policy.join(", ")}.`]),
    ...listOf(answer["warnings"]).map((warning) => `Warning: ${textOf(warning)}.`),
    "",
    ...(id === ""
      ? ["No decision is remembered: it was not written through this proxy lately."]
      : [
          `Decided at ${textOf(decision["at"])}: ${textOf(decision["reason"])}: ${textOf(decision["message"])}.`,
          ...(decision["dryRun"] === true ? ["Dry run: the decision was reported, and nothing was changed."] : []),
          `Save the inputs of this decision: kubectl evenkeel snapshot ${id}`,
        ]),
  ];
}

/** `tokyo has 4, 4 ready: Weighted (38 W).` */
function placeLine(place: Readonly<Record<string, unknown>>): string {
  const [replicas, ready, decided] = ["replicas", "ready", "decided"].map((field) => numberOf(place[field]));
  const [reason, note, standing] = ["reason", "note", "standing"].map((field) => textOf(place[field]));
  const figure = note === "" ? "" : ` (${note})`;
  const why = reason === "" ? "" : `: ${reason}${figure}`;
  const cluster = textOf(place["cluster"]);
  if (replicas === undefined) {
    return `${cluster} does not answer${decided === undefined ? "" : `; it was last given ${decided}`}.`;
  }
  const changed =
    decided === undefined || decided === replicas ? "" : `; the decision gave it ${decided}, it was changed since`;
  const standingNote = standing === "Ready" || standing === reason ? "" : `; the cluster is ${standing ?? ""} now`;
  return `${cluster} has ${replicas}, ${ready ?? 0} ready${why}${changed}${standingNote}.`;
}
