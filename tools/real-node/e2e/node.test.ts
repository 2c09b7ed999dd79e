import { apply, get, kubectl, TEST_TIMEOUT_MS, waitUntil } from "@evenkeel/e2e";
import { expect, test } from "@jest/globals";
import { describeOnRealNode, NODE_IMAGE } from "../src/index.ts";

/** Answers with the name of its pod, and counts visits in a file of its volume. */
const SERVER = `
  const { appendFileSync, readFileSync } = require("node:fs");
  require("node:http").createServer((request, response) => {
    appendFileSync("/data/visits", ".");
    response.end(process.env.HOSTNAME + " " + readFileSync("/data/visits").length);
  }).listen(8080);
`;

/** Prints what a URL answers. Connections are refused until kube-proxy has followed the Service. */
const CLIENT = `
  const ask = () =>
    fetch(process.argv[1]).then((answer) => answer.text()).then(console.log, () => setTimeout(ask, 500));
  ask();
`;

const NAMESPACE = "node";
const metadata = { name: "web", namespace: NAMESPACE };
const IN_PLACE = ["-n", NAMESPACE];

/** A pod that may run under Pod Security "restricted". */
function podSpec(args: readonly string[], more: object = {}, container: object = {}): object {
  const securityContext = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  };
  return {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [{ name: "node", image: NODE_IMAGE, args, securityContext, ...container }],
    ...more,
  };
}

describeOnRealNode("a real node", (cluster) => {
  test(
    "runs a pod with a volume, and another pod reaches it by name through its Service",
    async () => {
      await kubectl(cluster(), ["create", "namespace", NAMESPACE]);
      await kubectl(cluster(), ["label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted"]);
      const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      const template = {
        metadata: { labels: { app: "web" } },
        spec: podSpec(
          ["-e", SERVER],
          { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "web" } }] },
          { volumeMounts: [{ name: "data", mountPath: "/data" }], readinessProbe: { tcpSocket: { port: 8080 } } },
        ),
      };
      const selector = { app: "web" };
      await apply(
        cluster(),
        { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec: claim },
        { apiVersion: "v1", kind: "Service", metadata, spec: { selector, ports: [{ port: 80, targetPort: 8080 }] } },
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata,
          spec: { selector: { matchLabels: selector }, template },
        },
      );
      await kubectl(cluster(), ["rollout", "status", "deployment/web", ...IN_PLACE, "--timeout=60s"]);
      const spec = podSpec(["-e", CLIENT, "http://web.node.svc.cluster.local/"], { restartPolicy: "Never" });
      await apply(cluster(), { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "client" }, spec });
      await waitUntil("the client to end", async () => {
        const { status } = await get<{ status: { phase: string } }>(cluster(), "pod", "client", ...IN_PLACE);
        if (status.phase === "Failed") {
          throw new Error(`${JSON.stringify(status)}\n${await kubectl(cluster(), ["logs", "client", ...IN_PLACE])}`);
        }
        return status.phase === "Succeeded" ? undefined : `its phase is ${status.phase}`;
      });
      expect(await kubectl(cluster(), ["logs", "client", ...IN_PLACE])).toMatch(/^web-\S+ 1\n$/);
      const visits = "console.log(require('node:fs').readFileSync('/data/visits').length)";
      expect(
        await kubectl(cluster(), ["exec", "deployment/web", ...IN_PLACE, "--", "/nodejs/bin/node", "-e", visits]),
      ).toBe("1\n");
    },
    TEST_TIMEOUT_MS,
  );
});
