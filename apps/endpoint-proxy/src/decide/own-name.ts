/** What the name of the own ClusterScore comes from. */
export interface NameFacts {
  /** Value of the region label of each node that has one. */
  readonly regions: readonly string[];
  /** `--cluster-name`. */
  readonly clusterName: string | null;
  /** Uid of namespace kube-system. */
  readonly clusterUid: string;
  /** Names of ClusterScores that exist. */
  readonly taken: readonly string[];
}

/** The name and region of the own ClusterScore, and whether there is something to say about them. */
export interface OwnName {
  readonly name: string;
  readonly region: string | null;
  readonly reason: "Labelled" | "NoRegionLabel" | "SeveralRegions" | "NameTaken";
  readonly message: string;
}

const NAME_LENGTH = 253;

/**
 * The first free name of: the region that most nodes have ('.' written as '-'), the configured name, one from the
 * cluster's uid. Of regions with equally many nodes the first by name counts.
 */
export function ownName({ regions, clusterName, clusterUid, taken }: NameFacts): OwnName {
  const { region, reason, message } = ownRegion(regions);
  const wanted = [region, clusterName].flatMap((text) => (text === null ? [] : [asName(text)])).filter(Boolean);
  const candidates = [...wanted, `cluster-${clusterUid}`];
  const name = candidates.find((candidate) => !taken.includes(candidate)) ?? `cluster-${clusterUid}-own`;
  if (name === candidates[0]) return { name, region, reason, message };
  const why = `A ClusterScore ${candidates[0] ?? ""} exists already and is not of this cluster, so ${name} is used: delete one of them`;
  return { name, region, reason: "NameTaken", message: why };
}

/** The region that most nodes have. */
export function ownRegion(regions: readonly string[]): Omit<OwnName, "name"> {
  const counts = new Map<string, number>();
  for (const region of regions) counts.set(region, (counts.get(region) ?? 0) + 1);
  const [first, second] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  if (first === undefined) {
    const message = "No node has the label topology.kubernetes.io/region: label the nodes, or set --cluster-name";
    return { region: null, reason: "NoRegionLabel", message };
  }
  const [region, count] = first;
  if (second === undefined) return { region, reason: "Labelled", message: `${count} nodes are in region ${region}` };
  const message = `The nodes are in ${counts.size} regions; ${count} of ${regions.length} are in ${region}, which is used`;
  return { region, reason: "SeveralRegions", message };
}

/** A DNS-1123 subdomain without dots. */
function asName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .slice(0, NAME_LENGTH)
    .replaceAll(/^-+|-+$/g, "");
}
