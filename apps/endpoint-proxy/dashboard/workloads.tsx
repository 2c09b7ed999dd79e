import { Badge, Card, Fault, type PageProps, Time, useLoaded } from "@evenkeel/dashboard/browser";
import { type Placement, type Placements, segmentsOf, segmentsText, sumOf, type Write, writesOf } from "./placement.ts";
import { ClusterLegend, SplitBar } from "./split-bar.tsx";

/** Milliseconds between two readings. The service keeps an answer for 5 s. */
const INTERVAL = 10_000;
const MOST_WORKLOADS = 50;
const MOST_WRITES = 8;

/** Workloads over the clusters as bars, and the last writes. Nothing is shown while there are none. */
export function Workloads({ api, decisions = [] }: Pick<PageProps, "api" | "decisions">) {
  const writes = writesOf(decisions).slice(0, MOST_WRITES);
  const loaded = useLoaded("placements", (signal) => api.get<Placements>("Placements/List", {}, signal), INTERVAL);
  const { data, fault } = loaded;
  const clusters = [
    ...new Set([
      ...(data?.placements ?? []).flatMap(({ places }) => places.map(({ cluster }) => cluster)),
      ...writes.flatMap(({ segments }) => segments.map(({ cluster }) => cluster)),
    ]),
  ];
  return (
    <>
      {data === undefined && fault !== undefined && (
        <Fault what="The workloads" fault={fault} retry={() => loaded.reload()} />
      )}
      {data !== undefined && data.placements.length > 0 && <Bars {...{ data, clusters }} />}
      {writes.length > 0 && <Writes {...{ writes, clusters }} />}
    </>
  );
}

function Bars({ data, clusters }: { readonly data: Placements; readonly clusters: readonly string[] }) {
  const { placements, warnings, truncated } = data;
  const shown = placements.slice(0, MOST_WORKLOADS);
  const most = Math.max(1, ...shown.map((placement) => sumOf(segmentsOf(placement).segments)));
  const isPart = truncated || shown.length < placements.length;
  return (
    <Card
      title="Workloads over clusters"
      aside={isPart ? `the first ${shown.length} of ${placements.length}${truncated ? " or more" : ""}` : undefined}
    >
      <ul class="workload-bars">
        {shown.map((placement) => (
          <Bar key={placement.workload} {...{ placement, most, clusters }} />
        ))}
      </ul>
      <ClusterLegend clusters={clusters} />
      {warnings.map((warning) => (
        <p key={warning} class="quiet">
          {warning}
        </p>
      ))}
    </Card>
  );
}

interface BarProps {
  readonly placement: Placement;
  readonly most: number;
  readonly clusters: readonly string[];
}

function Bar({ placement, most, clusters }: BarProps) {
  const { segments, unknown } = segmentsOf(placement);
  const [kind = "", namespace = "", name = ""] = placement.workload.split("/");
  return (
    <li>
      <span class="workload-name" title={placement.workload}>
        <span class="quiet">
          {kind} {namespace}/
        </span>
        {name}
      </span>
      <SplitBar label={name} {...{ segments, most, clusters }} />
      <span class="workload-text number">
        {placement.ready}/{placement.replicas} <span class="quiet">ready</span>
        {unknown.length > 0 && <Badge tone="warn">without {unknown.join(", ")}</Badge>}
      </span>
    </li>
  );
}

function Writes({ writes, clusters }: { readonly writes: readonly Write[]; readonly clusters: readonly string[] }) {
  return (
    <Card title="Recent writes">
      <table class="writes">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Workload</th>
            <th scope="col">Split</th>
            <th scope="col">Reason</th>
            <th scope="col">What and why</th>
          </tr>
        </thead>
        <tbody>
          {writes.map(({ decision: { id, at, object, reason, message, dryRun, action }, segments }) => (
            <tr key={id}>
              <td class="when">
                <Time at={at} />
              </td>
              <td>
                <span class="quiet">{object.namespace}/</span>
                {object.name}
              </td>
              <td class="write-split">
                <SplitBar label={object.name} most={sumOf(segments)} {...{ segments, clusters }} />
                <span class="quiet">{segmentsText(segments)}</span>
              </td>
              <td>
                <Badge tone={action === "split" ? "accent" : "quiet"}>{reason}</Badge>
                {dryRun && <Badge tone="quiet">Dry run</Badge>}
              </td>
              <td class="message">{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
