import { apply, get, kubectl, list, TEST_TIMEOUT_MS, useCluster, waitUntil } from "@evenkeel/e2e";
import { beforeAll, expect, test } from "@jest/globals";
import { BallastProcess } from "../test/ballast-process.ts";

const cluster = useCluster({ name: "ballast", nodes: 0 });
let kubeconfig: string;

/** Exactly what the service does: its lease, and Events. */
const rules = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
  { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
];

beforeAll(async () => {
  const rbac = "rbac.authorization.k8s.io";
  const metadata = { name: "ballast", namespace: "default" };
  await apply(
    cluster(),
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "Role", name: "ballast" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "ballast" }],
    },
  );
  kubeconfig = await cluster().kubeconfigFor({ user: "ballast" });
}, TEST_TIMEOUT_MS);

const start = () => BallastProcess.start([`--kubeconfig=${kubeconfig}`], "main-on-kube.ts");

interface Told {
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly type: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly reportingController: string;
}

test(
  "tells its decisions as Events, with the rights that it needs and no more",
  async () => {
    await using ballast = await start();
    await ballast.line(({ reason }) => reason === "BelowTarget");
    await waitUntil("the Event", async () => {
      const events = await list<Told>(cluster(), "events.events.k8s.io");
      return events.some(({ reason }) => reason === "BelowTarget") ? undefined : `there are ${events.length}`;
    });
    const [event] = (await list<Told>(cluster(), "events.events.k8s.io")).filter(
      ({ reason }) => reason === "BelowTarget",
    );
    expect(event).toMatchObject({
      type: "Normal",
      action: "fill",
      note: "Level 30 is below 50 by more than 5; pumping to 50",
      regarding: { kind: "Tank", name: "main" },
      reportingController: "evenkeel.io/ballast",
    });
    ballast.signal("SIGTERM");
    expect((await ballast.exit).code).toBe(0);
  },
  TEST_TIMEOUT_MS,
);

test(
  "one of two leads; the other takes over as soon as the first stops, and the lease is free after both",
  async () => {
    await using first = await start();
    await first.line(({ decision }) => decision !== undefined);
    await using second = await start();
    await second.phase("ready");
    first.signal("SIGTERM");
    expect((await first.exit).code).toBe(0);
    expect(second.lines.filter(({ decision }) => decision !== undefined)).toEqual([]);
    await second.line(({ decision }) => decision !== undefined);
    second.signal("SIGTERM");
    expect((await second.exit).code).toBe(0);
    const { spec } = await get<{ spec: { holderIdentity?: string } }>(cluster(), "lease", "ballast");
    expect(spec.holderIdentity ?? "").toBe("");
  },
  TEST_TIMEOUT_MS,
);

test(
  "a user without rights is one clear line: who may not do what",
  async () => {
    const config = await cluster().kubeconfigFor({ user: "stowaway" });
    await using ballast = await BallastProcess.start([`--kubeconfig=${config}`], "main-on-kube.ts");
    const refused = await ballast.line((line) => JSON.stringify(line).includes("EK_KUBE_FORBIDDEN"));
    expect(JSON.stringify(refused)).toContain("stowaway");
    expect(JSON.stringify(refused)).toContain("leases");
    expect(await kubectl(cluster(), ["auth", "can-i", "get", "leases", "--as=stowaway"]).catch(() => "no")).toBe("no");
  },
  TEST_TIMEOUT_MS,
);

test(
  "an API server that is not there ends the start with one clear line",
  async () => {
    await using ballast = await BallastProcess.start(["--kubeconfig=/nowhere/config"], "main-on-kube.ts");
    expect((await ballast.exit).code).toBe(1);
    const fatal = ballast.lines.filter(({ level }) => level === "fatal");
    expect(fatal).toHaveLength(1);
    expect(String(fatal[0]?.["code"])).toMatch(/^EK_KUBE_/);
    expect(fatal[0]?.["msg"]).toContain("/nowhere/config");
  },
  TEST_TIMEOUT_MS,
);
