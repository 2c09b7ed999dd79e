import { describe, expect, test } from "@jest/globals";
import { apply, configMap, kubectl, list, TEST_TIMEOUT_MS, useCluster } from "../src/index.ts";

const east = useCluster({ name: "east", nodes: 1 });
const west = useCluster({
  name: "west",
  nodes: { count: 2, cpu: "64", labels: { "topology.kubernetes.io/zone": "w" } },
});

describe("two clusters at once", () => {
  test(
    "do not see each other's objects",
    async () => {
      await apply(east(), configMap("only-east", "e"));
      await apply(west(), configMap("only-west", "w"));
      const names = async (cluster: typeof east): Promise<string[]> =>
        (await list(cluster(), "configmaps"))
          .map(({ metadata }) => metadata.name)
          .filter((name) => name.startsWith("only"));
      expect(await names(east)).toEqual(["only-east"]);
      expect(await names(west)).toEqual(["only-west"]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "have the nodes that each was started with",
    async () => {
      interface Node {
        readonly status: { readonly allocatable: { readonly cpu: string } };
      }
      const nodes = async (...args: Parameters<typeof list>): Promise<string[]> =>
        (await list<Node>(...args)).map(({ metadata, status }) => `${metadata.name} ${status.allocatable.cpu}`);
      expect(await nodes(east(), "nodes")).toEqual(["node-0 8"]);
      expect(await nodes(west(), "nodes", "-l", "topology.kubernetes.io/zone=w")).toEqual(["node-0 64", "node-1 64"]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "do not accept each other's certificates and tokens",
    async () => {
      const asEast = await west().kubectl(["get", "pods", `--server=${west().server}`, "--insecure-skip-tls-verify"], {
        kubeconfig: east().kubeconfig,
      });
      expect(asEast.code).toBe(1);
      expect(asEast.stderr).toContain("Unauthorized");

      const token = (await kubectl(east(), ["create", "token", "default"])).trim();
      const trust = [`--server=${west().server}`, `--certificate-authority=${west().caFile}`];
      const byToken = await west().kubectl(["get", "pods", ...trust, `--token=${token}`], { kubeconfig: "/dev/null" });
      expect(byToken.code).toBe(1);
      expect(byToken.stderr).toContain("Unauthorized");
    },
    TEST_TIMEOUT_MS,
  );
});
