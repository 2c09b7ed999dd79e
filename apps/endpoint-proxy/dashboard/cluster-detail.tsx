import {
  Badge,
  Card,
  Conditions,
  keyOf,
  LastDecisions,
  numberText,
  ObjectHead,
  type PageProps,
  shareText,
  spanText,
  Stat,
  useDecisionsOf,
} from "@evenkeel/dashboard/browser";
import { type Cluster, scoreText, toneOf, usedShare } from "./cluster.ts";

export interface ClusterDetailProps extends Pick<PageProps, "api" | "act" | "service" | "decisions"> {
  readonly cluster: Cluster;
}

/** One cluster: its score, what is left there, how old that is, and why it has its standing. */
export function ClusterDetail({ cluster, ...page }: ClusterDetailProps) {
  const key = keyOf(cluster.name);
  const object = `ClusterScore/${key}`;
  const decisions = useDecisionsOf(object, page);
  return (
    <article aria-label={key}>
      <Head cluster={cluster} act={page.act} />
      <Facts cluster={cluster} />
      <Nodes cluster={cluster} />
      <Conditions conditions={cluster.conditions} neutral={["Duplicate"]} />
      <LastDecisions {...page} {...{ object, decisions }} />
    </article>
  );
}

function Head({ cluster, act }: Pick<ClusterDetailProps, "cluster" | "act">) {
  const { name, own, paused, dryRun, standing } = cluster;
  const title = paused ? "Resume" : "Pause";
  const consequence = paused
    ? `Replicas may be placed in ${name.name} again.`
    : `No replicas are placed in ${name.name} until you resume it. It keeps what it holds.`;
  const action = { title, consequence, method: `ClusterScores/${title}`, request: { object: name } };
  return (
    <ObjectHead name={name} decided={cluster} actions={[action]} act={act}>
      <Badge tone={toneOf(cluster)}>{standing}</Badge>
      {own && <Badge tone="accent">Own cluster</Badge>}
      {dryRun && <Badge tone="quiet">Dry run</Badge>}
    </ObjectHead>
  );
}

function Facts({ cluster }: Pick<ClusterDetailProps, "cluster">) {
  const { score, source, ownScore, ownSource, free, whole, marginalWatts, ageSeconds, latencySeconds } = cluster;
  const own =
    source !== ownSource && ownScore !== undefined ? `itself ${scoreText(ownScore, ownSource)}` : "lower is better";
  const share = (part: "cpu" | "memory" | "pods") => shareText(usedShare(free?.[part], whole?.[part]));
  return (
    <div class="stats">
      <Stat label="Score" value={scoreText(score, source)} note={own} />
      <Stat label="CPU requested" value={share("cpu")} note={`${numberText(coresOf(free?.cpu))} cores free`} />
      <Stat label="Memory requested" value={share("memory")} note={`${numberText(gibOf(free?.memory))} GiB free`} />
      <Stat label="Pods" value={share("pods")} note={`${free?.pods ?? "?"} free`} />
      <Stat label="One more CPU" value={`${numberText(marginalWatts)} W`} note="on the cheapest nodes" />
      <Stat
        label="Age"
        value={ageSeconds === undefined ? "unknown" : spanText(ageSeconds * 1000)}
        note={latencySeconds === undefined ? "of the score" : `answered in ${Math.round(latencySeconds * 1000)} ms`}
      />
    </div>
  );
}

function Nodes({ cluster: { nodes, failedNodes = "0", ownSource } }: Pick<ClusterDetailProps, "cluster">) {
  if (nodes.length === 0) return null;
  const aside = Number(failedNodes) > 0 ? `${failedNodes} without a prediction` : undefined;
  return (
    <Card title="Nodes" aside={aside}>
      <table>
        <thead>
          <tr>
            <th>Node</th>
            <th class="number">Score</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map(({ name, score }) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="number">{scoreText(score, ownSource)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function coresOf(millicores: string | undefined): number | undefined {
  return millicores === undefined ? undefined : Number(millicores) / 1000;
}

function gibOf(bytes: string | undefined): number | undefined {
  return bytes === undefined ? undefined : Number(bytes) / 2 ** 30;
}
