import { hash } from "node:crypto";
import { prometheusMilliseconds, type Labels } from "@evenkeel/relabel";
import type { Target } from "./target.ts";

const META = "__meta_kubernetes_";
const PARAMETER = "__param_";

/** Where the name of a target's node is, the best first. */
const NODE_NAMES = ["pod_node_name", "endpointslice_endpoint_node_name", "endpoint_node_name", "node_name"].map(
  (name) => META + name,
);

/** Where the zone of a target is, the best first. */
const ZONES = [
  "endpointslice_endpoint_zone",
  "pod_label_topology_kubernetes_io_zone",
  "node_label_topology_kubernetes_io_zone",
].map((name) => META + name);

const EXPECTED_SERIES = ["pod", "service"].map((kind) => `${META}${kind}_annotation_evenkeel_io_expected_series`);

/** A target before relabelling. */
export interface Discovered {
  readonly group: Labels;
  readonly target: Labels;
}

/** The target that a job scrapes with `labels`. `zoneOf` knows the zones of nodes. */
export function targetOf(
  job: string,
  labels: Labels,
  discovered: Discovered,
  zoneOf: (node: string) => string | undefined,
): Target {
  const address = labels.get("__address__") ?? "";
  const node = nodeOf(discovered);
  const zone = first(ZONES, discovered) ?? (node === undefined ? undefined : zoneOf(node));
  const expectedSeries = seriesOf(first(EXPECTED_SERIES, discovered));
  return {
    identity: identityOf(job, labels),
    key: keyOf(job, address, labels),
    job,
    address,
    labels,
    interval: (prometheusMilliseconds(labels.get("__scrape_interval__") ?? "") ?? 0) / 1000,
    ...(zone !== undefined && { zone }),
    ...(node !== undefined && { node }),
    ...(expectedSeries !== undefined && { expectedSeries }),
  };
}

function identityOf(job: string, labels: Labels): string {
  const names = [...labels.keys()].sort();
  let text = job;
  for (const name of names) text += `\xff${name}\xff${labels.get(name) ?? ""}`;
  return hash("sha1", text, "base64url");
}

/** Keys are recorded and shown, and parameters may be tokens: a key has only a hash of them. */
function keyOf(job: string, address: string, labels: Labels): string {
  const parameters: string[] = [];
  for (const [name, value] of labels) if (name.startsWith(PARAMETER)) parameters.push(`${name}\xff${value}`);
  const [scheme, path] = [labels.get("__scheme__") ?? "", labels.get("__metrics_path__") ?? ""];
  const key = `${job} ${scheme}://${address}${path}`;
  return parameters.length === 0 ? key : `${key} ${hash("sha1", parameters.sort().join("\xff"), "base64url")}`;
}

function nodeOf(discovered: Discovered): string | undefined {
  const named = first(NODE_NAMES, discovered);
  if (named !== undefined) return named;
  const isNode = first([`${META}endpointslice_address_target_kind`], discovered) === "Node";
  return isNode ? first([`${META}endpointslice_address_target_name`], discovered) : undefined;
}

function first(names: readonly string[], { group, target }: Discovered): string | undefined {
  for (const name of names) {
    const value = target.get(name) ?? group.get(name);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

/** A whole number above zero; anything else is as if the annotation were absent. */
function seriesOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
