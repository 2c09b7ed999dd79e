import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient, secrets } from "@evenkeel/kube";
import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { clusterScore } from "../decide/score.ts";
import type { NodeReading } from "../decide/snapshot.ts";
import { metrics } from "../metrics.ts";
import { ClusterReader } from "./cluster-reader.ts";
import { secretCredentials } from "./wao/basic-auth-secret.ts";
import { JsonServers } from "./wao/json-servers.ts";
import { Predictor } from "./wao/predictor.ts";
import { Watts } from "./wao/watts.ts";

const whole = { cpu: 4000, memory: 2 ** 30, pods: 110 };

const nodeNamed = (name: string): NodeReading => ({
  ...{ name, watts: null, marginalWatts: null, fault: null, schedulable: true, free: whole, whole, capacity: 4 },
});

const definition = (group: string) => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodeconfigs.${group}}
spec:
  group: ${group}
  names: {kind: NodeConfig, listKind: NodeConfigList, plural: nodeconfigs, singular: nodeconfig}
  scope: Namespaced
  versions:
    - name: v1beta1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`;

/** Answers with JSON by path; without an answer for a path it never answers at all. */
class Played {
  readonly asked: { readonly path: string; readonly body: string; readonly authorization: string | undefined }[] = [];
  mostAtOnce = 0;
  url = "";
  readonly #server: Server;
  #atOnce = 0;

  constructor(answer: (path: string, body: string) => unknown) {
    this.#server = createServer((request, response) => void this.#serve(request, response, answer));
  }

  async listen(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse, answer: (path: string, body: string) => unknown) {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const [path, body] = [request.url ?? "", Buffer.concat(parts).toString()];
    this.asked.push({ path, body, authorization: request.headers.authorization });
    const answered = answer(path, body);
    if (answered === undefined) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(typeof answered === "string" ? answered : JSON.stringify(answered), () => this.#atOnce--);
  }
}

const inputOf = (body: string): readonly number[] =>
  (JSON.parse(body) as { inputs: { data: number[][] }[] }).inputs[0]?.data[0] ?? [];
const watts = (value: unknown) => ({ outputs: [{ data: [value] }] });

describe("the score of the own cluster", () => {
  let api: ApiServer;
  let kube: KubeClient;
  let folder: string;
  let servers: JsonServers;
  let nodes: NodeReading[];
  let usage: Record<string, string>;
  let measuredAt: Record<string, string>;
  const calls: string[] = [];
  const played: Played[] = [];

  const play = async (answer: (path: string, body: string) => unknown) => {
    const server = await new Played(answer).listen();
    played.push(server);
    return server;
  };

  /** Plays metrics.k8s.io and the custom metrics API in front of the API server. */
  const metricsApis = ({ url = "" }: IncomingMessage, response: ServerResponse): "handled" | "pass" => {
    const send = (items: readonly object[]) => {
      calls.push(url);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ kind: "List", metadata: {}, items }));
      return "handled" as const;
    };
    const now = new Date().toISOString();
    if (url.startsWith("/apis/metrics.k8s.io/v1beta1/nodes")) {
      return send(
        Object.entries(usage).map(([name, cpu]) => {
          return { metadata: { name }, timestamp: measuredAt[name] ?? now, window: "15s", usage: { cpu } };
        }),
      );
    }
    const [, metric] = /^\/apis\/custom\.metrics\.k8s\.io\/v1beta2\/nodes\/\*\/(\w+)/.exec(url) ?? [];
    if (metric === undefined) return "pass";
    const value = metric === "inlet_temp" ? "22500m" : "8";
    return send(
      nodes.map(({ name }) => ({
        describedObject: { kind: "Node", name },
        metric: { name: metric },
        timestamp: now,
        value,
      })),
    );
  };

  /** Serves NodeConfigs of a group. */
  const define = async (group: string) => {
    api.load(definition(group));
    const type = { group, version: "v1beta1", kind: "NodeConfig", plural: "nodeconfigs", namespaced: true };
    await eventually(async () => expect(await kube.serves(type)).toBe(true));
  };

  const configure = (group: string, node: string, predictor: object, metricsCollector: object = {}) =>
    api.load(
      JSON.stringify({
        ...{ apiVersion: `${group}/v1beta1`, kind: "NodeConfig", metadata: { name: node, namespace: "wao-system" } },
        spec: { nodeName: node, metricsCollector, predictor },
      }),
    );

  const read = async (source: "auto" | "watts" = "auto", deadline = 20_000) => {
    const table = new MetricRegistry().register(metrics);
    const predictor = new Predictor({
      ...{ servers, predictions: table.predictions, clock: systemClock },
      credentials: secretCredentials(kube.resource(secrets)),
    });
    const reader = new ClusterReader({
      nodes: { read: () => nodes, whenSynced: () => Promise.resolve() },
      watts: new Watts({ kube, predictor, nodeFaults: table.nodeFaults, clock: systemClock }),
      ...{ kube, namespace: "wao-system", source, deadline },
    });
    const once = async () => {
      const reading = await reader.read(new AbortController().signal);
      return { reading, score: clusterScore(reading, 0) };
    };
    return { ...(await once()), again: once };
  };

  beforeEach(async () => {
    calls.length = 0;
    nodes = [nodeNamed("a"), nodeNamed("b")];
    usage = { a: "1", b: "500m" };
    measuredAt = {};
    api = await startApiServer({ users: [ADMIN], faults: metricsApis });
    api.load("{apiVersion: v1, kind: Namespace, metadata: {name: wao-system}}");
    folder = mkdtempSync(join(tmpdir(), "wao-"));
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, kubeconfigFor(api.url));
    const limits = { kubeDeadline: 5000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    kube = connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
    servers = new JsonServers({ insecure: false });
  });
  afterEach(async () => {
    for (const server of played.splice(0)) server.close();
    await servers.stop();
    await kube.stop();
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  test.each(["wao.bitmedia.co.jp", "node.waok8s.github.io"])(
    "is the sum of whole watts, as the original's, with NodeConfigs of %s",
    async (group) => {
      await define(group);
      const predictor = await play((_path, body) => watts(100.9 + (inputOf(body)[0] ?? 0)));
      const powerConsumption = { type: "V2InferenceProtocol", endpoint: `${predictor.url}/v2/models/m1/versions/v1` };
      for (const node of ["a", "b"]) configure(group, node, { powerConsumption });
      const { reading, score } = await read();
      // a: 25 % gives 125.9, b: 12.5 % gives 113.4.
      expect(score).toMatchObject({ source: "watts", score: 238, failedNodes: 0 });
      expect(score?.nodes).toEqual([
        { name: "a", score: 125 },
        { name: "b", score: 113 },
      ]);
      expect(score?.marginalWatts).toBeCloseTo(25);
      expect(reading.nodes.map(({ fault }) => fault)).toEqual([null, null]);
      expect(new Set(predictor.asked.map(({ path }) => path))).toEqual(new Set(["/v2/models/m1/versions/v1/infer"]));
      expect(inputOf(predictor.asked[0]?.body ?? "")).toEqual([25, 22.5, 8]);
    },
  );

  test("comes from Fake predictors and from what a Redfish server names, with the Secrets of both", async () => {
    await define("wao.bitmedia.co.jp");
    const secret = (name: string) =>
      api.load(`
apiVersion: v1
kind: Secret
metadata: {name: ${name}, namespace: wao-system}
data: {username: dXNlcg==, password: ${Buffer.from(name).toString("base64")}}`);
    secret("bmc");
    secret("model");
    const predictor = await play(() => watts(50));
    const model = { Name: "m2", Type: "V2InferenceProtocol", Url: predictor.url, Version: "v3" };
    const redfish = await play((path) =>
      path === "/redfish/v1/Systems"
        ? { Members: [{ "@odata.id": "/redfish/v1/Systems/1" }] }
        : { PowerConsumptionModel: model },
    );
    configure("wao.bitmedia.co.jp", "a", { powerConsumption: { type: "Fake", endpoint: "" } });
    configure("wao.bitmedia.co.jp", "b", {
      powerConsumption: { type: "ignored", endpoint: "", basicAuthSecret: { name: "model" } },
      powerConsumptionEndpointProvider: { type: "Redfish", endpoint: redfish.url, basicAuthSecret: { name: "bmc" } },
    });
    const { score } = await read();
    expect(score).toMatchObject({ score: 53, failedNodes: 0 });
    expect(predictor.asked[0]?.path).toBe("/v2/models/m2/versions/v3/infer");
    const basic = (password: string) => `Basic ${Buffer.from(`user:${password}`).toString("base64")}`;
    expect(redfish.asked[0]?.authorization).toBe(basic("bmc"));
    expect(predictor.asked[0]?.authorization).toBe(basic("model"));
  });

  test("leaves out nodes without a value: NaN, an old metric, no metric, no NodeConfig, a dead predictor", async () => {
    await define("wao.bitmedia.co.jp");
    nodes = ["good", "nan", "old", "unmeasured", "unconfigured", "dead"].map(nodeNamed);
    usage = Object.fromEntries(nodes.flatMap(({ name }) => (name === "unmeasured" ? [] : [[name, "2"]])));
    measuredAt = { old: "2026-01-01T00:00:00Z" };
    const predictor = await play(() => watts(200));
    const broken = await play(() => '{"outputs": [{"data": [NaN]}]}');
    const gone = await play(() => watts(1));
    gone.close();
    for (const { name } of nodes) {
      const { url } = name === "nan" ? broken : name === "dead" ? gone : predictor;
      const powerConsumption = { type: "V2InferenceProtocol", endpoint: `${url}/v2/models/m` };
      if (name !== "unconfigured") configure("wao.bitmedia.co.jp", name, { powerConsumption });
    }
    const { reading, score } = await read();
    expect(score).toMatchObject({ score: 200, nodes: [{ name: "good", score: 200 }], failedNodes: 5 });
    expect(reading.nodes.flatMap(({ name, fault }) => (fault === null ? [name] : []))).toEqual(["good"]);
  });

  test("is unknown if no node has a prediction, and never 0", async () => {
    await define("wao.bitmedia.co.jp");
    const gone = await play(() => watts(1));
    gone.close();
    const powerConsumption = { type: "V2InferenceProtocol", endpoint: `${gone.url}/v2/models/m` };
    for (const node of ["a", "b"]) configure("wao.bitmedia.co.jp", node, { powerConsumption });
    expect((await read()).score).toBeNull();
  });

  test("is by capacity without WAO, and makes no call for watts", async () => {
    nodes = [{ ...nodeNamed("a"), free: { ...whole, cpu: 1000 } }, nodeNamed("b")];
    const { score } = await read();
    expect(score).toMatchObject({ source: "capacity", score: 375, free: { cpu: 5000 }, whole: { cpu: 8000 } });
    expect(calls).toEqual([]);
  });

  test("of 500 nodes takes one call for each metric and 16 predictions at once, though 20 nodes hang", async () => {
    await define("node.waok8s.github.io");
    nodes = Array.from({ length: 500 }, (_, index) => ({
      ...nodeNamed(`n${index}`),
      // No room for one more CPU: a single prediction each.
      free: { ...whole, cpu: 500 },
    }));
    usage = Object.fromEntries(nodes.map(({ name }, index) => [name, `${1000 + index}m`]));
    const predictor = await play(() => watts(10.7));
    const hanging = await play(() => undefined);
    for (const [index, { name }] of nodes.entries()) {
      const { url } = index < 20 ? hanging : predictor;
      const powerConsumption = { type: "V2InferenceProtocol", endpoint: `${url}/v2/models/m` };
      configure("node.waok8s.github.io", name, { powerConsumption });
    }
    const { score, again } = await read();
    expect(score).toMatchObject({ score: 4800, failedNodes: 20 });
    expect(calls).toHaveLength(3);
    expect(predictor.mostAtOnce).toBeLessThanOrEqual(16);
    expect(hanging.asked.length).toBeLessThanOrEqual(16);
    const asked = predictor.asked.length;
    expect((await again()).score).toMatchObject({ score: 4800 });
    expect(predictor.asked).toHaveLength(asked);
  });
});
