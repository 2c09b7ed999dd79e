import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { connectKube, type KubeClient, kubeErrors } from "@evenkeel/kube";
import { systemClock } from "@evenkeel/runtime";
import { FakeClock } from "@evenkeel/runtime/testing";
import { kubeconfigFor } from "@evenkeel/testkit";
import { BadFile, UnusableUsage } from "../../errors.ts";
import { metricsApi, READING } from "./metrics-api.ts";

const PATH = "/apis/metrics.k8s.io/v1beta1";

const listOf = (kind: string, items: readonly object[]): string =>
  JSON.stringify({ kind: `${kind}List`, apiVersion: "metrics.k8s.io/v1beta1", metadata: {}, items });

const times = { timestamp: "2026-01-31T12:00:00Z", window: "15s" };
const node = (name: string) => ({ metadata: { name }, ...times, usage: { cpu: "1500m", memory: "2Gi" } });
const pod = (name: string) => ({
  metadata: { name, namespace: "shop" },
  ...times,
  containers: [
    { name: "a", usage: { cpu: "250m", memory: "1Mi" } },
    { name: "b", usage: { cpu: "100000000n", memory: "1Mi" } },
  ],
});

describe("usage from metrics.k8s.io", () => {
  let server: Server;
  let kube: KubeClient;
  let folder: string;
  let answers: Record<string, string | undefined>;

  beforeEach(async () => {
    answers = {
      [`${PATH}/nodes`]: listOf("NodeMetrics", [node("a")]),
      [`${PATH}/pods`]: listOf("PodMetrics", [pod("web")]),
    };
    server = createServer(({ url = "" }, response) => {
      const answer = answers[url];
      const missing = { kind: "Status", status: "Failure", reason: "NotFound", code: 404 };
      response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(answer ?? JSON.stringify(missing));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    folder = mkdtempSync(join(tmpdir(), "metrics-api-"));
    const kubeconfig = join(folder, "kubeconfig");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(kubeconfig, kubeconfigFor(url, { token: "t" }));
    const limits = { kubeDeadline: 5000, kubeConnections: 2, kubeQps: 0, kubeBurst: 1 };
    kube = connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
  });
  afterEach(async () => {
    await kube.stop();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  const read = () => metricsApi(kube, systemClock).read(new AbortController().signal);

  test("is that of nodes, and of pods the sum of their containers", async () => {
    const { nodes, pods } = await read();
    const span = { at: Date.parse(times.timestamp), window: 15_000 };
    expect(Object.fromEntries(nodes)).toEqual({ a: { cpu: 1500, memory: 2 ** 31, ...span } });
    expect(Object.fromEntries(pods)).toEqual({ "shop/web": { cpu: 350, memory: 2 ** 21, ...span } });
  });

  test.each([
    ["the API is not there", undefined, kubeErrors.NotFound],
    ["there is no node", listOf("NodeMetrics", []), UnusableUsage],
    ["the answer is not a list", "<html>", BadFile],
    ["the answer is cut", listOf("NodeMetrics", [node("a")]).slice(0, -9), BadFile],
  ])("is not there if %s", async (_name, answer, error) => {
    answers[`${PATH}/nodes`] = answer;
    await expect(read()).rejects.toBeInstanceOf(error);
  });

  test("is not there if the answer stops in the middle of the list", async () => {
    const asked = Promise.withResolvers<undefined>();
    server.removeAllListeners("request");
    server.on("request", (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(listOf("NodeMetrics", [node("a"), node("b")]).slice(0, -99), () => asked.resolve(undefined));
    });
    const clock = new FakeClock();
    const failed = expect(metricsApi(kube, clock).read(new AbortController().signal)).rejects.toMatchObject({
      code: "EK_RUNTIME_DEADLINE_EXCEEDED",
    });
    await asked.promise;
    await clock.advance(READING);
    await failed;
  });

  test("of many pods is read without blocking the event loop", async () => {
    answers[`${PATH}/pods`] = listOf(
      "PodMetrics",
      Array.from({ length: 20_000 }, (_, index) => pod(`web-${index}`)),
    );
    // CPU time between two turns of the event loop: what other programs use of the machine does not count.
    const turns: number[] = [];
    let last = process.threadCpuUsage();
    const timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(last);
      turns.push((user + system) / 1000);
      last = process.threadCpuUsage();
    });
    const { pods } = await read();
    clearInterval(timer);
    expect(pods.size).toBe(20_000);
    // To parse the whole at once takes longer than any of its parts.
    expect(Math.max(...turns)).toBeLessThan(200);
  });
});
