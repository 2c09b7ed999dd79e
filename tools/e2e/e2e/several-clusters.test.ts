import { readFileSync } from "node:fs";
import { type Cluster, apply, configMap, kubectl, list, TEST_TIMEOUT_MS, useClusters } from "../src/index.ts";
import { describe, expect, jest, test } from "@jest/globals";

jest.setTimeout(TEST_TIMEOUT_MS);

const region = (name: string) => ({ count: 1, labels: { "topology.kubernetes.io/region": name } });
const clusters = useClusters({
  east: { nodes: region("region-a") },
  west: { nodes: region("region-b") },
  south: { nodes: region("region-c") },
});

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: { readonly name?: string };
}

const audited = (cluster: Cluster): AuditEvent[] =>
  readFileSync(cluster.auditLog ?? "", "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEvent);

describe("three clusters at once", () => {
  test("have objects and nodes of their own", async () => {
    const { east, west, south } = clusters();
    const all = [east, west, south];
    await Promise.all(all.map((cluster) => apply(cluster, configMap(`only-${cluster.name}`, "x"))));
    for (const cluster of all) {
      const names = (await list(cluster, "configmaps")).map(({ metadata }) => metadata.name);
      expect(names.filter((name) => name.startsWith("only-"))).toEqual([`only-${cluster.name}`]);
    }
    const regions = await Promise.all(
      all.map((cluster) => list<{ metadata: { labels: Record<string, string> } }>(cluster, "nodes")),
    );
    expect(regions.map(([node]) => node?.metadata.labels["topology.kubernetes.io/region"])).toEqual([
      ...["region-a", "region-b", "region-c"],
    ]);
  });

  test("have pods with addresses that no other has", async () => {
    const { east, west } = clusters();
    const addresses = async (cluster: Cluster): Promise<string[]> => {
      await kubectl(cluster, ["create", "deployment", "web", "--image=none"]);
      await kubectl(cluster, ["rollout", "status", "deployment", "web"]);
      return (await list<{ status: { podIP: string } }>(cluster, "pods")).map(({ status }) => status.podIP);
    };
    const [[one = ""], [other = ""]] = [await addresses(east), await addresses(west)];
    expect(one).toMatch(/^10\.200\.([0-9]|[12][0-9]|3[01])\./);
    expect(other).toMatch(/^10\.200\.(3[2-9]|[45][0-9]|6[0-3])\./);
  });

  test("know the client certificates of their own authority alone", async () => {
    const { east, west } = clusters();
    const { certificate, key } = await east.clientCertificate({ user: "ann", groups: ["dev"] });
    const whoami = (cluster: Cluster) =>
      cluster.kubectl(
        [
          ...["auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}"],
          ...[`--server=${cluster.server}`, `--certificate-authority=${cluster.caFile}`],
          ...[`--client-certificate=${certificate}`, `--client-key=${key}`],
        ],
        { kubeconfig: "/dev/null" },
      );
    expect(await whoami(east)).toMatchObject({ code: 0, stdout: 'ann ["dev","system:authenticated"]' });
    expect(await whoami(west)).toMatchObject({ code: 1, stderr: expect.stringContaining("Unauthorized") });
  });

  test("write down who asked each of them, and who impersonated", async () => {
    const { west, south } = clusters();
    await kubectl(south, ["get", "configmap", "only-south", "--as=ann", "--as-group=system:masters"]);
    const asked = (cluster: Cluster) =>
      audited(cluster).filter(({ objectRef, verb }) => objectRef?.name === "only-south" && verb === "get");
    expect(asked(west)).toEqual([]);
    expect(asked(south).filter(({ impersonatedUser }) => impersonatedUser !== undefined)).toContainEqual(
      expect.objectContaining({
        user: expect.objectContaining({ username: "admin" }),
        impersonatedUser: expect.objectContaining({ username: "ann" }),
      }),
    );
  });
});
