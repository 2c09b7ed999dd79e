import { readmeExample } from "@evenkeel/api/manifests";
import { apply, get, kubectl, list, TEST_TIMEOUT_MS, tokenOf, usedRights, useCluster, waitUntil } from "@evenkeel/e2e";
import { type ServiceProcess } from "@evenkeel/testkit";
import { describeRedis, RedisServer } from "@evenkeel/state-contract";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ORIGINAL_LEASE, OriginalLeader } from "./original.ts";
import { CHART, namespaceOf, Site, ZONE } from "./site.ts";

/** Rights that an ordinary run need not use, and why they are granted. */
const SELDOM_USED = new Map([
  ["list rebalances", "objects are listed where the API server is too old to stream them with the watch"],
  [
    "get rebalances",
    "a finalizer is changed on the object as it is now when somebody else changed it at the same time",
  ],
]);

const cluster = useCluster({ name: "weight-rebalancer", nodes: 0, audit: true });
let site: Site;

beforeAll(async () => {
  site = await Site.start(cluster());
}, TEST_TIMEOUT_MS);
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

/**
 * Waits until `check` does not throw any more. A check that starts kubectl costs more than what it waits for: it is not
 * made often.
 */
const until = (what: string, check: () => unknown) => {
  const whyNot = async () => {
    try {
      await check();
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
  return waitUntil(what, whyNot, { everyMs: 300 });
};

/** Gives the tests of a block one process of the service. */
function useService(namespace: string, ...flags: readonly string[]): () => ServiceProcess {
  let service: ServiceProcess | undefined;
  beforeAll(async () => {
    service = await site.serve(namespace, ...flags);
    await service.phase("ready");
  }, TEST_TIMEOUT_MS);
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
  });
  return () => {
    if (service === undefined) throw new Error("the service is there once the test runs, not before");
    return service;
  };
}

const conditionsOf = async (namespace: string, name: string) =>
  (await site.get(namespace, name)).status?.conditions ?? [];

const untilCondition = (namespace: string, name: string, type: string, expected: object) =>
  until(`${type} of ${namespace}/${name}`, async () => {
    const found = (await conditionsOf(namespace, name)).find((condition) => condition.type === type);
    expect(found).toMatchObject(expected);
  });

/** A line of a table of kubectl by its headers. */
async function row(...args: string[]): Promise<Readonly<Record<string, string>>> {
  const [header = "", line = ""] = (await kubectl(cluster(), ["get", "rebalances", ...args])).split("\n");
  const names = header.trim().split(/\s{2,}/);
  const cells = line.trim().split(/\s{2,}/);
  return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
}

const weightsOf = async (service: ServiceProcess, namespace = "") => {
  const response = await fetch(await service.url("admin", `/api/v1/Weights/Get?namespace=${namespace}`));
  expect(response.status).toBe(200);
  return ((await response.json()) as { weights?: unknown[] }).weights ?? [];
};

describe("without flags, in all namespaces,", () => {
  const service = useService("default");
  const IN = ["-n", "readme"] as const;

  test(
    "the README's example, applied as it stands, shows 16 in kubectl, and leaves the record; without its dry run it becomes 16, and deletion sets it back",
    async () => {
      site.addZone(ZONE, "example.com");
      await apply(cluster(), namespaceOf("readme"), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "rebalancer-aws-secret", namespace: "readme" },
        stringData: { "access-key": "AKIATEST", "secret-access-key": "secret" },
      });
      await kubectl(cluster(), ["apply", ...IN, "-f", "-"], { input: readmeExample });

      await until("a dry run's status", async () => {
        expect((await site.get("readme", "aws-env")).status).toMatchObject({
          condition: "Unhealthy",
          desiredValue: 16,
          actualValue: 3,
        });
      });
      expect(await row(...IN)).toEqual({
        NAME: "aws-env",
        "LAST UPDATE": expect.stringMatching(/^\d+s$/),
        CONDITION: "Unhealthy",
      });
      expect(await row("-o", "wide", ...IN)).toMatchObject({ "DRY RUN": "true", DESIRED: "16", ACTUAL: "3" });
      expect(await conditionsOf("readme", "aws-env")).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: "Ready", status: "True", reason: "TargetTracking", observedGeneration: 1 }),
          expect.objectContaining({ type: "MetricsAvailable", status: "True", reason: "Read" }),
          expect.objectContaining({ type: "TargetSynced", status: "False", reason: "DryRun" }),
          expect.objectContaining({ type: "Throttled", status: "False" }),
          expect.objectContaining({ type: "Paused", status: "False" }),
        ]),
      );
      expect(site.changes(ZONE)).toBe(0);

      const change = JSON.stringify({ spec: { dryRun: false, onDelete: "revert" } });
      await kubectl(cluster(), ["patch", "rebalance", "aws-env", ...IN, "--type=merge", "-p", change]);
      await until("the record", () => expect(site.weight(ZONE)).toBe(16));
      await until("the columns", async () => {
        expect(await row("-o", "wide", ...IN)).toMatchObject({
          CONDITION: "Healty",
          "DRY RUN": "false",
          DESIRED: "16",
          ACTUAL: "16",
        });
      });
      expect((await site.get("readme", "aws-env")).status?.initialWeights).toMatchObject([
        { target: expect.stringContaining(`${ZONE}/example.com A aws`), weight: 3 },
      ]);
      await until("Events", async () => {
        const described = await kubectl(cluster(), ["describe", "rebalance", "aws-env", ...IN]);
        expect(described).toMatch(
          /Normal\s+TargetTracking\s.*evenkeel\.io\/weight-rebalancer.*\s3000 .* 1000\b.* 3 .* 16\b/,
        );
      });

      await kubectl(cluster(), ["delete", "rebalance", "aws-env", ...IN, "--timeout=30s"]);
      expect(site.weight(ZONE)).toBe(3);
      expect(site.weight(ZONE, "onpremises")).toBe(8);
    },
    TEST_TIMEOUT_MS,
  );
  test(
    "an HTTPRoute's weight follows the metric, and nothing else in the route is touched",
    async () => {
      const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: { remove: ["x-a"] } }];
      const backendRefs = [
        { name: "base", port: 80, weight: 8 },
        { name: "burst", port: 8080, weight: 2, filters },
      ];
      const matches = [{ path: { type: "PathPrefix", value: "/" } }];
      const route = {
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "HTTPRoute",
        metadata: { name: "shop", namespace: "routes" },
        spec: { hostnames: ["shop.example.com"], rules: [{ matches, backendRefs }] },
      };
      await apply(cluster(), namespaceOf("routes"), route);
      type Route = typeof route;
      const before = await get<Route>(cluster(), "httproute", "shop", "-n", "routes");
      const target = { httpRoute: { name: "shop", backend: "burst" } };
      await apply(cluster(), site.rebalance("routes", "shop", "none", { target, onDelete: "revert" }));

      const spec = async () => (await get<Route>(cluster(), "httproute", "shop", "-n", "routes")).spec;
      const withWeight = (weight: number) => {
        const expected = structuredClone(before.spec);
        Object.assign(expected.rules[0]?.backendRefs[1] ?? {}, { weight });
        return expected;
      };
      await until("the weight", async () => expect(await spec()).toEqual(withWeight(16)));
      await untilCondition("routes", "shop", "TargetSynced", { status: "True", reason: "InSync" });
      await kubectl(cluster(), ["delete", "rebalance", "shop", "-n", "routes", "--timeout=30s"]);
      expect(await spec()).toEqual(withWeight(2));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a Secret of another namespace is refused by a condition that names the flag",
    async () => {
      const key = (key: string) => ({ name: "aws", namespace: "vault", key });
      const secretRef = { accessKeyIDSecretRef: key("id"), secretAccessKeySecretRef: key("secret") };
      const zone = "ZBORROWER";
      site.addZone(zone, "borrower.example.com");
      const resource = { name: "borrower.example.com", type: "A", identifier: "aws" };
      const target = { route53: { hostedZoneID: zone, resource, auth: { secretRef } } };
      await apply(cluster(), namespaceOf("vault"), namespaceOf("borrower"));
      await apply(cluster(), site.rebalance("borrower", "checkout", zone, { target }), {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "aws", namespace: "vault" },
        stringData: { id: "AKIATEST", secret: "secret" },
      });
      const message = expect.stringContaining("--allow-cross-namespace-secrets");
      await untilCondition("borrower", "checkout", "Ready", { status: "False", reason: "TargetUnknown", message });
      await untilCondition("borrower", "checkout", "TargetSynced", {
        status: "False",
        reason: "SecretElsewhere",
        message,
      });
      expect(site.changes(zone)).toBe(0);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "a change that comes again is counted on the Event that told of it first",
    async () => {
      const { zone } = await site.given("tides", "checkout");
      for (const [metric, weight] of [
        [3000, 16],
        [4000, 24],
        [3000, 16],
        [4000, 24],
        [3000, 16],
      ] as const) {
        site.metric = metric;
        await until("the record", () => expect(site.weight(zone)).toBe(weight));
      }
      await until("the count", async () => {
        const events = await list<{ series?: { count: number } }>(cluster(), "events.events.k8s.io", "-n", "tides");
        expect(Math.max(...events.map(({ series }) => series?.count ?? 1))).toBeGreaterThan(1);
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "who may change a Rebalance may pause it and let it go on, and who may not is refused",
    async () => {
      const { zone } = await site.given("berth", "checkout");
      await until("the record", () => expect(site.weight(zone)).toBe(16));
      await kubectl(cluster(), ["create", "serviceaccount", "operator", "-n", "berth"]);
      const token = await tokenOf(cluster(), "berth", "operator");
      const ask = async (method: "Pause" | "Resume") => {
        const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
        const body = JSON.stringify({ rebalance: { namespace: "berth", name: "checkout" } });
        const url = await service().url("admin", `/api/v1/Weights/${method}`);
        return (await fetch(url, { method: "POST", headers, body })).status;
      };
      expect(await ask("Pause")).toBe(403);
      const role = ["--verb=patch", "--resource=rebalances.rebalancer.ch1aki.github.io"];
      await kubectl(cluster(), ["create", "role", "pause", "-n", "berth", ...role]);
      const subject = ["--role=pause", "--serviceaccount=berth:operator"];
      await kubectl(cluster(), ["create", "rolebinding", "pause", "-n", "berth", ...subject]);
      await until("the operator's right", async () => expect(await ask("Pause")).toBe(200));
      await untilCondition("berth", "checkout", "Paused", { status: "True" });
      expect(await ask("Resume")).toBe(200);
      await untilCondition("berth", "checkout", "Paused", { status: "False" });
    },
    TEST_TIMEOUT_MS,
  );
});

describe("admission refuses, and names the field,", () => {
  const TRACKING = "spec.policy.targettracking";
  const ROUTE = "    httpRoute: { name: shop, backend: burst }\n";
  const windows = (startTime: string, endTime: string, value: number) =>
    `      scheduled: [{ startTime: "${startTime}", endTime: "${endTime}", value: ${value} }]\n`;
  const withTracking = (more: string) => readmeExample.replace(/( +baseValue: 8.*\n)/, `$1${more}`);

  test.each([
    ["a target value of 0", readmeExample.replace("targetValue: 1000", "targetValue: 0"), `${TRACKING}.targetValue`],
    ["a base that no record has", readmeExample.replace("baseValue: 8", "baseValue: 256"), `${TRACKING}.baseValue`],
    ["a minimum that no record takes", withTracking("      minimum: 256\n"), `${TRACKING}.minimum`],
    ["a negative maximum", withTracking("      maximum: -1\n"), `${TRACKING}.maximum`],
    ["a window's weight that no record takes", withTracking(windows("09:00", "10:00", 256)), `${TRACKING}.scheduled`],
    ["a window from 25:00", withTracking(windows("25:00", "10:00", 1)), `${TRACKING}.scheduled[0].startTime`],
    ["a window to 25:00", withTracking(windows("09:00", "25:00", 1)), `${TRACKING}.scheduled[0].endTime`],
    [
      "a timeout that no timer can count",
      readmeExample.replace("timeout: 30", "timeout: 2147484"),
      "spec.metrics.prometheus.timeout",
    ],
    ["two targets in one", readmeExample.replace("  target:\n", `  target:\n${ROUTE}`), "spec.target"],
    [
      "a target beside targets",
      readmeExample.replace("  metrics:\n", `  targets:\n    - ${ROUTE.trimStart()}  metrics:\n`),
      "spec.target",
    ],
  ])("%s", async (_title, input, field) => {
    expect(input).not.toBe(readmeExample);
    const { code, stderr } = await cluster().kubectl(["apply", "--dry-run=server", "-f", "-"], { input });
    expect(stderr).toContain(`${field}: `);
    expect(code).toBe(1);
  });

  test("nothing of the example itself", async () => {
    await kubectl(cluster(), ["apply", "--dry-run=server", "-f", "-"], { input: readmeExample });
  });
});

describe("with --watch-namespaces and --allow-cross-namespace-secrets", () => {
  const WATCHED = ["east", "west", "borrower", "vault"];
  beforeAll(() => apply(cluster(), ...WATCHED.map(namespaceOf)));
  // Secrets are read with the rights that the chart grants in these namespaces, so that of the Secret is one of them.
  const service = useService("east", `--watch-namespaces=${WATCHED.join(",")}`, "--allow-cross-namespace-secrets");

  test(
    "a Secret of another namespace is used",
    async () => {
      await until("the record", () => expect(site.weight("ZBORROWER")).toBe(16));
      await untilCondition("borrower", "checkout", "Ready", { status: "True" });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "only the namespaces that it is told are seen",
    async () => {
      const [east, west, south] = await Promise.all(
        ["east", "west", "south"].map((name) => site.given(name, "checkout")),
      );
      await until("the records", () => {
        expect(site.weight(east?.zone ?? "")).toBe(16);
        expect(site.weight(west?.zone ?? "")).toBe(16);
      });
      const seen = (await weightsOf(service())) as { rebalance: { namespace: string } }[];
      expect(seen.map(({ rebalance }) => rebalance.namespace).toSorted()).toEqual(["borrower", "east", "west"]);
      expect((await site.get("south", "checkout")).status).toBeUndefined();
      expect(site.weight(south?.zone ?? "")).toBe(3);
    },
    TEST_TIMEOUT_MS,
  );
});

test(
  "nothing is written while the original holds a live Lease, and it goes on when that is no longer renewed",
  async () => {
    const { zone } = await site.given("heir", "checkout");
    await apply(cluster(), namespaceOf("original"));
    await using service = await site.serve("heir", "--watch-namespaces=heir");
    {
      await using original = await OriginalLeader.start(cluster(), "original");
      // The service looks every ten seconds: it may have found no Lease just before there was one.
      await untilCondition("heir", "checkout", "Ready", {
        status: "False",
        reason: "OriginalRuns",
        message: expect.stringContaining(`${original.holder} (Lease original/${ORIGINAL_LEASE})`),
      });
      expect((await site.get("heir", "checkout")).status?.condition).toBe("Error");
      const changes = site.changes(zone);
      site.metric = 5000;
      const metrics = await service.url("admin", "/metrics");
      const held = async () => {
        const text = await (await fetch(metrics)).text();
        const counts = text.matchAll(/^evenkeel_decisions_total\{.*reason="OriginalRuns".*\} (\d+)$/gm);
        return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
      };
      const before = await held();
      await until("three more decisions", async () => expect(await held()).toBeGreaterThanOrEqual(before + 3));
      expect(site.changes(zone)).toBe(changes);
    }
    await until("the record", () => expect(site.weight(zone)).toBe(32));
    await untilCondition("heir", "checkout", "Ready", { status: "True" });
    expect(service.lines.filter(({ level }) => level === "fatal")).toEqual([]);
    // Whoever first sees a Lease waits for as long as it lasts.
    await kubectl(cluster(), ["delete", "lease", ORIGINAL_LEASE, "-n", "original"]);
    site.metric = 3000;
  },
  TEST_TIMEOUT_MS,
);

describeRedis("two replicas that share Redis", () => {
  test(
    "one leads; the other serves reads, and takes over when the first is asked to end",
    async () => {
      const redis = await RedisServer.start();
      try {
        const { zone } = await site.given("pair", "checkout");
        const flags = ["--watch-namespaces=pair", `--state=${redis.address}`];
        await using first = await site.serve("pair", ...flags);
        await until("the record", () => expect(site.weight(zone)).toBe(16));
        await using second = await site.serve("pair", ...flags);
        await second.phase("ready");
        await until("what the standby shows", async () =>
          expect(await weightsOf(second, "pair")).toMatchObject([
            { rebalance: { namespace: "pair", name: "checkout" }, desired: "16", targets: [{ actual: "16" }] },
          ]),
        );
        const decided = ({ lines }: ServiceProcess) => lines.filter(({ decision }) => decision !== undefined);
        expect(decided(second)).toEqual([]);

        first.signal("SIGTERM");
        expect((await first.exit).code).toBe(0);
        site.metric = 2000;
        await until("the record under its new leader", () => expect(site.weight(zone)).toBe(8));
        expect(decided(second).length).toBeGreaterThan(0);
      } finally {
        site.metric = 3000;
        await redis.end();
      }
    },
    TEST_TIMEOUT_MS,
  );
});

test("by the audit log of all this, the chart's account was refused nothing, and has no right that it does not use", async () => {
  const { refused, allowedElsewhere, unused } = await usedRights(cluster(), CHART);
  expect({ refused, allowedElsewhere }).toEqual({ refused: [], allowedElsewhere: [] });
  const seldom = [...SELDOM_USED.keys()].map((right) => `${right}.rebalancer.ch1aki.github.io`);
  expect(unused.filter((right) => !seldom.includes(right))).toEqual([]);
});
