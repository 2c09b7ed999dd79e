import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { Release, root } from "@evenkeel/charts";
import { type ClusterAccess, foldersFrom, openCluster } from "@evenkeel/control-plane";
import { apply, get, kubectl, list, TEST_TIMEOUT_MS, waitUntil } from "@evenkeel/e2e";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeIfRealNode } from "../src/index.ts";
import { httpRoute, routeRebalance } from "./rebalance.ts";

// The tests of this file are the life of one cluster and one release, in order: each goes on from where the one before
// left off.

const NAMESPACE = "evenkeel-system";
const IN_PLACE = ["evenkeel", "--namespace", NAMESPACE];
/** What `make deploy` installs unless told otherwise. */
const SERVICES = ["collector-scheduler", "eviction-planner", "scale-resolver", "weight-rebalancer"];

/** The commands of a section of README, which are indented. */
function readmeCommands(title: string): readonly string[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
  return section.split("\n").flatMap((line) => (line.startsWith("    ") ? line.trim() : []));
}

const [start = "", images = "", deploy = "", create = "", status = "", call = "", ...more] =
  readmeCommands("Run it on this machine");

/** The PATH of a person: without the workspace's own programs. */
const path = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);

describeIfRealNode("the commands of README", () => {
  const state = mkdtempSync(join(tmpdir(), "readme-"));
  const environment = {
    HOME: process.env["HOME"],
    PATH: path,
    XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"],
    XDG_STATE_HOME: state,
  };
  let release: Release | undefined;

  /**
   * Runs lines in one shell, as a person does. A cluster of the person's own is not touched, because the state folder
   * is another.
   */
  async function shell(...lines: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)("bash", ["-ec", lines.join("\n")], { cwd: root, env: environment });
    return stdout;
  }

  function cluster(): ClusterAccess {
    const running = openCluster("evenkeel", foldersFrom(environment));
    if (running === undefined) throw new Error("the cluster does not run");
    return running;
  }

  const helm = async (...args: readonly string[]): Promise<string> => {
    release ??= await Release.prepare(cluster());
    return release.helm(...args);
  };

  beforeAll(async () => {
    // As a careful administrator prepares the namespace: nothing that Pod Security refuses could be installed.
    const restricted = `kubectl label namespace ${NAMESPACE} pod-security.kubernetes.io/enforce=restricted`;
    await shell(start, `kubectl create namespace ${NAMESPACE}`, restricted, images, deploy, create);
  }, 5 * TEST_TIMEOUT_MS);

  afterAll(async () => {
    release?.[Symbol.dispose]();
    await shell("make --silent cluster-stop");
    rmSync(state, { recursive: true, force: true });
  }, TEST_TIMEOUT_MS);

  function hello(): Promise<{ status?: { state?: string } }> {
    return get(cluster(), "elastiservice", "hello", "-n", "hello");
  }

  function sleeps(): Promise<void> {
    return waitUntil("hello to sleep", async () => {
      const { status: seen } = await hello();
      return seen?.state === "Zero" ? undefined : `its state is ${seen?.state ?? "not known"}`;
    });
  }

  test("are as many as it says", () => {
    expect(more).toEqual([]);
    expect([start, images, deploy, create, status, call]).not.toContain("");
  });

  test("lead to the cluster that make start leads to without kind; with kind, that makes one", async () => {
    expect(await shell("make --silent start")).toBe(await shell(start.replace(/^eval "\$\((.+)\)"$/, "$1")));
    const kind = join(state, "kind");
    writeFileSync(kind, '#!/bin/sh\necho kind "$@"\n', { mode: 0o755 });
    expect(await shell(`PATH="${state}:$PATH" make --silent start`)).toBe("kind create cluster --name evenkeel\n");
  });

  test(
    "lead to a service that sleeps, and that a request from another pod wakes",
    async () => {
      await sleeps();
      expect(await shell(start, status)).toMatch(/^hello +hello +Zero /m);
      const { spec } = await get<{ spec: { replicas: number } }>(cluster(), "deployment", "hello", "-n", "hello");
      expect(spec.replicas).toBe(0);
      // While the last pod terminates it still answers.
      await waitUntil("the last pod to end", async () => {
        const pods = await list(cluster(), "pods", "-n", "hello", "-l", "app=hello");
        return pods.length === 0 ? undefined : `there are ${pods.length}`;
      });
      const answer = await shell(start, call);
      expect(answer).toMatch(/^200 OK$/m);
      expect(answer).toMatch(/^x-evenkeel-cold-start: true$/m);
      expect(answer).toMatch(/^hello$/m);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "lead to a weight-rebalancer that moves the weight of a route",
    async () => {
      const routes = join(root, "apps/weight-rebalancer/test/fixtures/httproutes.yaml");
      await kubectl(cluster(), ["apply", "--server-side", "-f", routes]);
      await kubectl(cluster(), ["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
      await apply(cluster(), httpRoute("hello"), routeRebalance("hello", "vector(3000)"));
      await routeHasWeight(16);
    },
    TEST_TIMEOUT_MS,
  );

  async function routeHasWeight(weight: number): Promise<void> {
    await waitUntil(`the route to have weight ${weight}`, async () => {
      const { spec } = await get<ReturnType<typeof httpRoute>>(cluster(), "httproute", "shop", "-n", "hello");
      const seen = spec.rules[0].backendRefs.find(({ name }) => name === "burst")?.weight;
      return seen === weight ? undefined : `its weight is ${String(seen)}`;
    });
  }

  test(
    "lead to a release of which make deploy upgrades one service and leaves the others",
    async () => {
      await shell(start, "make deploy SERVICE=weight-rebalancer");
      const names = await kubectl(cluster(), ["get", "deployments", "-n", NAMESPACE, "-o", "name"]);
      expect(names.trim().split("\n")).toEqual(SERVICES.map((service) => `deployment.apps/${service}`));
    },
    TEST_TIMEOUT_MS,
  );

  test("lead to a release that passes helm test", () => helm("test", ...IN_PLACE, "--timeout", "90s"), TEST_TIMEOUT_MS);

  test(
    "lead to a release that is upgraded and rolled back, and then still does its work",
    async () => {
      const verbose = SERVICES.flatMap((service) => ["--set", `${service}.settings.logLevel=debug`]);
      const chart = release?.chart("evenkeel") ?? "";
      await helm(
        "upgrade",
        ...IN_PLACE.toSpliced(1, 0, chart),
        "--reuse-values",
        ...verbose,
        "--wait",
        "--timeout",
        "90s",
      );
      expect(await logLevels()).toEqual(SERVICES.map(() => "debug"));
      await helm("rollback", "evenkeel", "1", "--namespace", NAMESPACE, "--wait", "--timeout", "90s");
      expect(await logLevels()).toEqual(SERVICES.map(() => "info"));
      await apply(cluster(), routeRebalance("hello", "vector(4000)"));
      await routeHasWeight(24);
    },
    TEST_TIMEOUT_MS,
  );

  async function logLevels(): Promise<readonly (string | undefined)[]> {
    const deployments = await list<{
      spec: { template: { spec: { containers: readonly { args: readonly string[] }[] } } };
    }>(cluster(), "deployments", "--namespace", NAMESPACE);
    return deployments.map(({ spec }) =>
      spec.template.spec.containers[0]?.args
        .find((arg) => arg.startsWith("--log-level="))
        ?.slice("--log-level=".length),
    );
  }

  test(
    "lead to a release that can be uninstalled: what sleeps is woken, only definitions and custom resources stay",
    async () => {
      await sleeps();
      await helm("uninstall", ...IN_PLACE, "--timeout", "90s");
      expect((await hello()).status).not.toHaveProperty("state");
      const { spec } = await get<{ spec: { replicas: number } }>(cluster(), "deployment", "hello", "-n", "hello");
      expect(spec.replicas).toBe(1);
      const kinds =
        "all,serviceaccounts,secrets,configmaps,roles,rolebindings,networkpolicies,poddisruptionbudgets,leases,endpointslices,persistentvolumeclaims";
      const left = await kubectl(cluster(), ["get", kinds, "-n", NAMESPACE, "-o", "name"]);
      expect(left.trim().split("\n").sort()).toEqual(["configmap/kube-root-ca.crt", "serviceaccount/default"]);
      const ofEvenkeel = ["-A", "-l", "app.kubernetes.io/part-of=evenkeel", "-o", "name"];
      const shared = "clusterroles,clusterrolebindings,roles,rolebindings,endpointslices";
      expect(await kubectl(cluster(), ["get", shared, ...ofEvenkeel])).toBe("");
      const byResolver = "endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io";
      expect(await kubectl(cluster(), ["get", "endpointslices", "-A", "-l", byResolver, "-o", "name"])).toBe("");
      expect(await kubectl(cluster(), ["get", "elastiservices,rebalances", "-A", "-o", "name"])).toBe(
        "elastiservice.elasti.truefoundry.com/hello\nrebalance.rebalancer.ch1aki.github.io/hello\n",
      );
    },
    TEST_TIMEOUT_MS,
  );
});
