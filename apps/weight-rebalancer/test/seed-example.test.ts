import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readmeExample } from "@evenkeel/api/manifests";
import { secrets } from "@evenkeel/kube";
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
import { eventually, World } from "./world.ts";

/** Five minutes of a counter that grows by 3,000 a second, as the example's query counts. */
function istioRequests(): string {
  const end = Math.floor(Date.now() / 1000) - 10;
  const labels = 'reporter="source",destination_service_name="test-svc"';
  const samples = Array.from({ length: 31 }, (_empty, index) => {
    return `istio_requests_total{${labels}} ${index * 30_000} ${end - 300 + index * 10}`;
  });
  return ["# TYPE istio_requests counter", ...samples, "# EOF\n"].join("\n");
}

/** A proxy that brings every request to the Prometheus of this test, so that the example's address need not be changed. */
async function proxyTo(target: string): Promise<{ url: string; close: () => void }> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((asked, response) => {
    const path = asked.url?.replace(/^http:\/\/[^/]+/, "");
    const passed = request({ hostname, port, path, method: asked.method, headers: asked.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    asked.pipe(passed);
  });
  server.on("connect", (_request, socket: Socket) => {
    const upstream = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) {
      sockets.add(end);
      end.on("error", () => undefined);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const missing = [hasPrometheus() ? [] : ["prometheus"], (await hasPython()) ? [] : ["python3 with venv"]].flat();
const describeReal = missing.length === 0 ? describe : describe.skip;

describeReal(
  `the example of the original's README, on moto and a real Prometheus${missing.length > 0 ? ` (needs ${missing.join(", ")})` : ""}`,
  () => {
    let moto: Route53Harness;
    let prometheus: RealPrometheus;
    let proxy: Awaited<ReturnType<typeof proxyTo>>;

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
      world.serve([], {
        HTTP_PROXY: proxy.url,
        NO_PROXY: "127.0.0.1",
        AWS_ENDPOINT_URL_ROUTE_53: moto.url,
      });
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
