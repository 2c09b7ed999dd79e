import { writeFile } from "node:fs/promises";
import { parseRebalance, REBALANCE, type Rebalance } from "@evenkeel/api";
import type { KubeClient } from "@evenkeel/kube";
import { PrometheusClient } from "@evenkeel/prometheus";
import { durationText, explain, objectKey, proxyFor, setting, type SettingsOf } from "@evenkeel/runtime";
import {
  advice,
  intervalOf,
  metricQueries,
  policySnapshot,
  type PrometheusSpec,
  rangeOf,
  readHistory,
  rebalances,
  replay,
  timesOf,
} from "@evenkeel/weight-rebalancer/backtest";
import { pastMetrics } from "../backtest/past-metrics.ts";
import { backtestSvg } from "../backtest/backtest-svg.ts";
import { showBacktest } from "../backtest/backtest-text.ts";
import { CannotWrite, NothingKnown, WrongUsage } from "../errors.ts";
import { namedObject } from "../object-argument.ts";
import { openKube } from "../reach/reach.ts";
import { instant, optionalDuration } from "../setting-kinds.ts";
import { outputSettings, reachSettings } from "../settings.ts";
import { defineVerb, type Session } from "../verb.ts";

const { kubeconfig, kubeContext } = reachSettings;

const settings = {
  ...outputSettings,
  namespace: setting.text({ optional: true, aliases: ["n"], help: "Namespace of the Rebalance, if its name has none" }),
  from: setting.duration({ default: "7d", help: "How long before the end to begin" }),
  to: instant({ help: "Where to end (default: now)" }),
  prometheus: setting.text({ optional: true, help: "URL of the Prometheus, if that of the Rebalance is out of reach" }),
  ttl: optionalDuration({
    help: "Time until a new weight is in effect (default: 60s for Route 53, 0 for an HTTPRoute)",
  }),
  svg: setting.text({ optional: true, help: "File to draw the load and the weights to" }),
  deadline: setting.duration({ default: "60s", help: "Time limit for each request" }),
  kubeconfig,
  kubeContext,
};

type BacktestSettings = SettingsOf<typeof settings>;

/** Steps of a replay at most: some seconds of work. */
const MOST_STEPS = 1_000_000;

export const backtest = defineVerb({
  name: "backtest",
  usage: ["rebalance/<namespace>/<name>"],
  summary: "Replays the policy of a Rebalance over the past days, next to the original's rule; changes nothing",
  details: [
    "Reads the metric of the past from the Prometheus of the Rebalance, and decides at each interval as the service would have.",
    "An address within the cluster, such as http://prometheus.monitoring.svc:9090, is reached through the API server,",
    "which needs the right to get services/proxy.",
  ],
  settings,
  words: { least: 1, most: 2 },
  run: async (session, given, words) => {
    const { object } = namedObject(words, session.registrations, given.namespace);
    if (object.kind !== REBALANCE.kind) throw new WrongUsage({ fault: `backtest supports ${REBALANCE.kind}s only` });
    const kube = openKube(session, {
      ...given,
      address: undefined,
      tokenFile: undefined,
      service: undefined,
      serviceNamespace: undefined,
    });
    const client = new PrometheusClient({
      clock: session.clock,
      userAgent: `kubectl-evenkeel/${session.version}`,
      advice,
      proxyFor: (server) => proxyFor(server, session.env),
    });
    try {
      const { namespace = "", name } = object;
      const stored = await kube.resource(rebalances).get({ namespace, name }, { signal: session.signal });
      const parsed = parseRebalance(stored);
      if (!parsed.ok) throw new NothingKnown({ what: `${objectKey(object)} is invalid: ${parsed.errors.join("; ")}` });
      return await run(session, given, parsed.value, stored.status?.actualValue ?? 0, kube, client);
    } finally {
      await client.stop();
      await kube.stop();
    }
  },
});

async function run(
  session: Session,
  given: BacktestSettings,
  rebalance: Rebalance,
  weight: number,
  kube: KubeClient,
  client: PrometheusClient,
): Promise<0> {
  const { screen, clock, signal } = session;
  const { metadata, spec } = rebalance;
  const { namespace = "", name, generation = 0 } = metadata;
  const step = intervalOf(spec);
  const end = given.to ?? clock.now();
  const times = timesOf({ start: end - given.from, end, step });
  if (times.length > MOST_STEPS)
    throw new WrongUsage({
      fault: `--from has ${times.length} intervals, more than ${MOST_STEPS}: choose a shorter time`,
    });
  const { prometheus, deadline } = given;
  const options = { kube, client, clock, deadline, signal, prometheus, namespace };
  const past = async (query: PrometheusSpec) => {
    const source = `prometheus ${query.query}`;
    return readHistory(times, step, { source, reducer: query.reducer }, await pastMetrics(query, options));
  };
  const queries = metricQueries(spec);
  const [first] = queries;
  const policy = policySnapshot(spec);
  // Of the base alone, the load of all follows only from the weight that was in force then.
  const written = policy.scope === "base" && first ? past({ ...first, query: actualQuery(namespace, name) }) : [];
  const [weights, ...metrics] = await Promise.all([written, ...queries.map(past)]);
  const { range, timeToLive } = rangeOf(spec);
  const result = replay({
    rebalance: { namespace, name, generation },
    ...{ policy, combine: spec.combine, range, timeToLive: given.ttl ?? timeToLive, weight, step },
    steps: times.map((at, index) => ({
      at,
      metrics: metrics.flatMap((readings) => readings[index] ?? []),
      weight: numberOf(weights[index]?.value),
    })),
  });
  const known = weights.filter(({ value }) => value !== null).length;
  const notes =
    policy.scope === "base" && known < times.length
      ? [`rebalancer_actual is unknown for ${times.length - known} of ${times.length} steps: ${weight} is assumed`]
      : [];
  const span = times.length * step;
  const title = `Rebalance ${namespace}/${name}, ${durationText(given.from)} until ${new Date(end).toISOString()}`;
  if (given.svg !== undefined) await save(given.svg, backtestSvg(title, result, policy.targetValue));
  if (given.output === "json") {
    const { points, ...totals } = result;
    screen.json({ rebalance: { namespace, name }, steps: points.length, step, notes, ...totals });
    return 0;
  }
  screen.lines(
    `${title}: ${times.length} steps of ${durationText(step)}, ${durationText(result.unknown)} without a metric.`,
    ...notes.map((note) => `Note: ${note}.`),
    "",
  );
  showBacktest(screen, result, span);
  return 0;
}

function actualQuery(namespace: string, name: string): string {
  return `max(rebalancer_actual{namespace=${JSON.stringify(namespace)},name=${JSON.stringify(name)}})`;
}

function numberOf(value: string | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

async function save(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((cause: unknown) => {
    throw new CannotWrite({ file, fault: explain(cause) });
  });
}
