import { type KubeClient, kubeErrors } from "@evenkeel/kube";
import { lookAtCluster } from "../doctor/cluster.ts";
import { lookAtDefinition } from "../doctor/definitions.ts";
import { type Finding, unanswered, type Verdict } from "../doctor/finding.ts";
import { lookAtAccount, lookAtOwnRights } from "../doctor/rights.ts";
import { lookAtServices, lookAtVersions } from "../doctor/services.ts";
import { openKube, Reach, type ReachSettings, type Services } from "../reach/reach.ts";
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
  { reached, missed }: Services,
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
    const absent = new Set(missed.filter(({ installed }) => !installed).map(({ name }) => name));
    const used = session.registrations.filter(
      ({ name }) => !absent.has(name) && (settings.address === undefined || reached.some((one) => one.name === name)),
    );
    const looked = used.map((registration) => lookAtRegistration(kube, registration, settings));
    return [cluster, ...(await Promise.all(looked)).flat()];
  } finally {
    await kube.stop();
  }
}

async function lookAtRegistration(
  kube: KubeClient,
  registration: Registration,
  { address, serviceNamespace }: ReachSettings,
): Promise<readonly Finding[]> {
  const namespace = serviceNamespace ?? registration.place.namespace;
  const kinds = await Promise.all(registration.kinds.map((kind) => lookAtDefinition(kube, kind)));
  const own = address === undefined ? await lookAtOwnRights(kube, { ...registration.place, namespace }) : [];
  return [...kinds, ...own, await lookAtAccount(kube, registration, namespace)];
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
