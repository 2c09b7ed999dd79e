import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readmeExample } from "@evenkeel/api/manifests";
import { secrets } from "@evenkeel/kube";
import { eventually } from "@evenkeel/runtime/testing";
import { Route53Client, type Route53Harness } from "@evenkeel/sim/contract";
import {
  hasPrometheus,
  hasPython,
  type RealPrometheus,
  startMoto,
  startRealPrometheus,
} from "@evenkeel/world-contract";
import { parse } from "yaml";
import { rebalances, type StoredRebalance } from "../src/rebalance-resource.ts";
import { type Proxy, proxyTo } from "./proxy-to.ts";
import { World } from "./world.ts";

/** Five minutes of a counter that grows by 3,000 a second, as the example's query counts. */
function istioRequests(): string {
  const end = Math.floor(Date.now() / 1000) - 10;
  const labels = 'reporter="source",destination_service_name="test-svc"';
  const samples = Array.from({ length: 31 }, (_empty, index) => {
    return `istio_requests_total{${labels}} ${index * 30_000} ${end - 300 + index * 10}`;
  });
  return ["# TYPE istio_requests counter", ...samples, "# EOF\n"].join("\n");
}

const missing = [hasPrometheus() ? [] : ["prometheus"], (await hasPython()) ? [] : ["python3 with venv"]].flat();
const describeReal = missing.length === 0 ? describe : describe.skip;

describeReal(
  `the example of the original's README, on moto and a real Prometheus${missing.length > 0 ? ` (needs ${missing.join(", ")})` : ""}`,
  () => {
    let moto: Route53Harness;
    let prometheus: RealPrometheus;
    let proxy: Proxy;

    beforeAll(async () => {
      moto = await startMoto();
      prometheus = await startRealPrometheus(istioRequests());
      proxy = await proxyTo(prometheus.url);
    }, 180_000);
    afterAll(async () => {
      proxy.close();
      await prometheus.stop();
      await moto.stop();
    });

    /** The example with nothing changed but the zone's id, which is a row of X in it, and what `change` says. */
    async function given(change: Readonly<Record<string, unknown>> = {}) {
      const client = new Route53Client(moto.url);
      const zone = await moto.createZone("example.com");
      const site = (setIdentifier: string, weight: number) => ({
        name: "example.com",
        type: "A",
        setIdentifier,
        weight,
        ttl: 60,
        values: ["192.0.2.1"],
      });
      await client.change(zone, ["CREATE", site("onpremises", 8)], ["CREATE", site("aws", 3)]);
      const world = await World.start();
      const example = parse(readmeExample.replace("XXXXXXXXXX", zone)) as StoredRebalance & { spec: object };
      const data = { "access-key": btoa("AKIATEST"), "secret-access-key": btoa("secret\n") };
      await world.kube
        .resource(secrets)
        .create({ metadata: { namespace: "default", name: "rebalancer-aws-secret" }, data });
      await world.kube.resource(rebalances).create({
        ...example,
        metadata: { ...example.metadata, namespace: "default" },
        spec: { ...example.spec, ...change },
      });
      const env = { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1", AWS_ENDPOINT_URL_ROUTE_53: moto.url };
      world.serve([], { env: { ...process.env, ...env } });
      const records = async () => (await client.list(zone)).records;
      const weight = async () => (await records()).find((record) => record.setIdentifier === "aws")?.weight;
      return { world, records, weight, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
    }

    test("as it stands is a dry run: it shows 16 and leaves the record as it is", async () => {
      await using example = await given();
      const { world, weight, records } = example;
      await eventually(async () => {
        expect((await world.get("aws-env")).status).toMatchObject({
          condition: "Unhealthy",
          desiredValue: 16,
          actualValue: 3,
        });
      });
      expect(await weight()).toBe(3);
      expect((await records()).map(({ type }) => type)).toEqual(expect.arrayContaining(["NS", "SOA"]));
    }, 60_000);

    test("without its dry run makes the record 16, and touches no other", async () => {
      await using example = await given({ dryRun: false });
      const { world, weight, records } = example;
      const before = (await records()).filter(({ setIdentifier }) => setIdentifier !== "aws");
      await eventually(async () => expect(await weight()).toBe(16));
      await eventually(async () => {
        expect((await world.get("aws-env")).status).toMatchObject({
          condition: "Healty",
          desiredValue: 16,
          actualValue: 16,
        });
      });
      expect((await records()).filter(({ setIdentifier }) => setIdentifier !== "aws")).toEqual(before);
    }, 60_000);
  },
);
