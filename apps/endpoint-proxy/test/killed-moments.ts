/**
 * What a cluster's server does with a request of the write. The proxy that sent it does not hear of it any more, unless
 * it is refused.
 */
type Deed = "carry out" | "drop" | "refuse";

interface Call {
  readonly method: string;
  readonly isDryRun: boolean;
  /** How many commits the cluster has got, with this one. */
  readonly commits: number;
}

/** The proxy is killed when each blow of a moment has met its request, so that nothing is on its way any more. */
export interface Blow {
  readonly cluster: string;
  readonly deed: Deed;
  readonly hits: (call: Call) => boolean;
}

export const isCommit: Blow["hits"] = ({ method, isDryRun }) => method !== "GET" && !isDryRun;
const isDryRun: Blow["hits"] = (call) => call.isDryRun;
const isPutBack: Blow["hits"] = (call) => isCommit(call) && call.commits === 2;
const isRead: Blow["hits"] = ({ method }) => method === "GET";

/** In the order in which messages name them: the own one first. */
export const NAMES = ["tokyo", "kyoto", "osaka"];

/** The commit is carried out in these clusters and dropped in the others. */
function written(...done: readonly string[]): Moment {
  const deed = (cluster: string): Deed => (done.includes(cluster) ? "carry out" : "drop");
  return { blows: NAMES.map((cluster) => ({ cluster, deed: deed(cluster), hits: isCommit })), done };
}

/** Kyoto refuses the commit, so that the others are put back. That is dropped in these clusters. */
function puttingBack(...done: readonly string[]): Moment {
  const deed = (cluster: string): Deed => (done.includes(cluster) ? "drop" : "carry out");
  const others = NAMES.filter((cluster) => cluster !== "kyoto");
  const back = others.map((cluster) => ({ cluster, deed: deed(cluster), hits: isPutBack }));
  return { blows: [{ cluster: "kyoto", deed: "refuse", hits: isCommit }, ...back], done };
}

export interface Moment {
  readonly blows: readonly Blow[];
  /** The clusters in which the write is carried out. */
  readonly done: readonly string[];
}

export const UNDONE: Readonly<Record<string, Moment>> = {
  "while it reads": { blows: [{ cluster: "osaka", deed: "drop", hits: isRead }], done: [] },
  "in the dry run": { blows: [{ cluster: "osaka", deed: "carry out", hits: isDryRun }], done: [] },
  "before any is written": written(),
};
export const IN_PART: Readonly<Record<string, Moment>> = {
  "when the own cluster alone is written": written("tokyo"),
  "when one peer alone is written": written("osaka"),
  "when all but one peer are written": written("tokyo", "osaka"),
};

export const UNDOING: Readonly<Record<string, Moment>> = {
  "before any is put back": puttingBack("tokyo", "osaka"),
  "when the own cluster alone is put back": puttingBack("osaka"),
};
