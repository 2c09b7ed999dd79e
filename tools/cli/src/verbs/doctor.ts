import { type KubeClient, kubeErrors } from "@evenkeel/kube";
import { lookAtCluster } from "../doctor/cluster.ts";
import { lookAtDefinition } from "../doctor/definitions.ts";
import { type Finding, unanswered, type Verdict } from "../doctor/finding.ts";
import { lookAtAccount, lookAtOwnRights } from "../doctor/rights.ts";
import { lookAtServices, lookAtVersions } from "../doctor/services.ts";
import { openKube, Reach, type ReachSettings, type Services } from "../reach/reach.ts";
import type { ServicePlace } from "../reach/proxied-connection.ts";
import type { Registration } from "../services/registration.ts";
import { commonSettings } from "../settings.ts";
import type { Screen } from "../show/screen.ts";
import { coloured, harmless } from "../show/table.ts";
import { defineVerb, type Session } from "../verb.ts";

export const doctor = defineVerb({
  name: "doctor",
  usage: [""],
  summary: "Looks at all that the services need, and says what to do about what is amiss",
  details: [
    "Looks at definitions of kinds, rights, services, metrics, peers, shared state and versions.",
    "Exits 1 if something fails; warnings alone exit 0.",
  ],
  settings: commonSettings,
  words: { least: 0, most: 0 },
  run: async (session, settings) => {
    const services = await servicesOf(session, settings);
    const findings = [
      ...(await lookThroughCluster(session, settings, services)),
      ...(await lookAtServices(services)),
      ...lookAtVersions(services.reached, session.version),
    ];
    await services[Symbol.asyncDispose]();
    if (settings.output === "json") session.screen.json({ findings });
    else show(session.screen, findings);
    return findings.some(({ verdict }) => verdict === "fail") ? 1 : 0;
  },
});

/** Without a way to any service there is still much to look at; why there is none is found with the cluster. */
async function servicesOf(session: Session, settings: ReachSettings): Promise<Services & AsyncDisposable> {
  const reach = new Reach(session, settings);
  const close = { [Symbol.asyncDispose]: () => reach[Symbol.asyncDispose]() };
  try {
    return { ...(await reach.services()), ...close };
  } catch {
    return { reached: [], missed: [], ...close };
  }
}

async function lookThroughCluster(
  session: Session,
  settings: ReachSettings,
  services: Services,
): Promise<readonly Finding[]> {
  const kube = openKube(session, settings);
  try {
    await kube.namespace();
  } catch (error) {
    // Whoever asks by address may have no cluster at all.
    const direct = settings.address !== undefined && error instanceof kubeErrors.NoCluster;
    return [unanswered("cluster", direct ? "warn" : "fail", "no cluster was looked at", error)];
  }
  try {
    const cluster = await lookAtCluster(kube);
    if (cluster.verdict === "fail" && cluster.message.startsWith("the API server was not reached")) return [cluster];
    const looked = inUse(services).map((one) => lookAtOne(kube, one));
    return [cluster, ...(await Promise.all(looked)).flat()];
  } finally {
    await kube.stop();
  }
}

/** A registered service that is there or should be, and the namespace that it is in. */
interface InUse {
  readonly registration: Registration;
  /** Absent where the service was reached by its address: it may run anywhere. */
  readonly place: ServicePlace | undefined;
  /** Namespaces that it looks after; none: all. */
  readonly watched: readonly string[];
}

function inUse({ reached, missed }: Services): readonly InUse[] {
  const there = reached.map(({ registration, servicePlace: place, status }) => {
    const watched = status.settings.get("watch-namespaces") ?? "";
    return { registration, place, watched: watched.split(",").filter((name) => name !== "") };
  });
  const away = missed
    .filter(({ installed }) => installed)
    .map(({ registration, servicePlace: place }) => ({ registration, place, watched: [] }));
  return [...there, ...away].flatMap((one) =>
    one.registration === undefined ? [] : [{ ...one, registration: one.registration }],
  );
}

async function lookAtOne(kube: KubeClient, { registration, place, watched }: InUse): Promise<readonly Finding[]> {
  const kinds = await Promise.all(registration.kinds.map((kind) => lookAtDefinition(kube, kind)));
  if (place === undefined) return kinds;
  const own = await lookAtOwnRights(kube, place);
  return [...kinds, ...own, await lookAtAccount(kube, registration, place.namespace, watched)];
}

const tones = { ok: "good", warn: "warning", fail: "bad" } as const;

function show(screen: Screen, findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ area }) => area.length));
  for (const { area, verdict, message, fix } of findings) {
    screen.lines(
      `${coloured(verdict.padEnd(4), tones[verdict], screen.paper)}  ${area.padEnd(width)}  ${harmless(message)}`,
    );
    if (fix !== undefined && verdict !== "ok") screen.lines(`${" ".repeat(width + 8)}→ ${harmless(fix)}`);
  }
  const count = (wanted: Verdict) => findings.filter(({ verdict }) => verdict === wanted).length;
  screen.lines("", `${count("ok")} ok, ${count("warn")} to know of, ${count("fail")} to mend`);
}
