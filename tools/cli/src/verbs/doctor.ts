import { type KubeClient, kubeErrors } from "@evenkeel/kube";
import { checkCluster } from "../doctor/cluster.ts";
import { checkDefinition } from "../doctor/definitions.ts";
import { type Finding, unanswered, type Verdict } from "../doctor/finding.ts";
import { checkAdminPort } from "../doctor/network.ts";
import { checkAccount, checkOwnRights } from "../doctor/rights.ts";
import { checkServices, checkVersions } from "../doctor/services.ts";
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
  summary: "Checks everything that the services need, and says how to fix what is wrong",
  details: [
    "Checks CRDs, rights, network policies, services, metrics, peers, state and versions.",
    "Exits 1 if a check fails. Warnings alone exit 0.",
  ],
  settings: commonSettings,
  words: { least: 0, most: 0 },
  run: async (session, settings) => {
    const services = await servicesOf(session, settings);
    const findings = [
      ...(await checkInCluster(session, settings, services)),
      ...(await checkServices(services)),
      ...checkVersions(services.reached, session.version),
    ];
    await services[Symbol.asyncDispose]();
    if (settings.output === "json") session.screen.json({ findings });
    else show(session.screen, findings);
    return findings.some(({ verdict }) => verdict === "fail") ? 1 : 0;
  },
});

/** If no service can be reached, the cluster is still checked, and that check finds the reason. */
async function servicesOf(session: Session, settings: ReachSettings): Promise<Services & AsyncDisposable> {
  const reach = new Reach(session, settings);
  const close = { [Symbol.asyncDispose]: () => reach[Symbol.asyncDispose]() };
  try {
    return { ...(await reach.services()), ...close };
  } catch {
    return { reached: [], missed: [], ...close };
  }
}

async function checkInCluster(
  session: Session,
  settings: ReachSettings,
  services: Services,
): Promise<readonly Finding[]> {
  const kube = openKube(session, settings);
  try {
    await kube.namespace();
  } catch (error) {
    // With --address there may be no cluster.
    const direct = settings.address !== undefined && error instanceof kubeErrors.NoCluster;
    return [unanswered("cluster", direct ? "warn" : "fail", "no cluster was checked", error)];
  }
  try {
    const cluster = await checkCluster(kube);
    if (cluster.verdict === "fail") return [cluster];
    const checks = inUse(services).map((one) => checkOne(kube, one));
    return [cluster, ...(await Promise.all(checks)).flat()];
  } finally {
    await kube.stop();
  }
}

/** A registered service that is installed or should be. */
interface InUse {
  readonly registration: Registration;
  /** Its Service. Absent with --address: it may run anywhere. */
  readonly place: ServicePlace | undefined;
  /** Its settings; empty if it does not answer. */
  readonly settings: ReadonlyMap<string, string>;
}

function inUse({ reached, missed }: Services): readonly InUse[] {
  const there = reached.map(({ registration, servicePlace: place, status: { settings } }) => {
    return { registration, place, settings };
  });
  const away = missed
    .filter(({ installed }) => installed)
    .map(({ registration, servicePlace: place }) => ({ registration, place, settings: new Map<string, string>() }));
  return [...there, ...away].flatMap((one) =>
    one.registration === undefined ? [] : [{ ...one, registration: one.registration }],
  );
}

async function checkOne(kube: KubeClient, { registration, place, settings }: InUse): Promise<readonly Finding[]> {
  const kinds = await Promise.all(registration.kinds.map((kind) => checkDefinition(kube, kind)));
  if (place === undefined) return kinds;
  const { namespace } = place;
  const watched = (settings.get("watch-namespaces") ?? "").split(",").filter((name) => name !== "");
  return [
    ...kinds,
    ...(await checkOwnRights(kube, place)),
    await checkAccount(kube, { registration, namespace, watched, settings }),
    ...(await checkAdminPort(kube, place)),
  ];
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
  const warnings = count("warn") === 1 ? "1 warning" : `${count("warn")} warnings`;
  screen.lines("", `${count("ok")} passed, ${warnings}, ${count("fail")} failed`);
}
