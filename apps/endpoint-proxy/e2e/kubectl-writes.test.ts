import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubectl, TEST_TIMEOUT_MS } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { HelmRelease } from "./helm-release.ts";
import { audited, NAMES, ThreeProxies } from "./three-proxies.ts";

jest.setTimeout(TEST_TIMEOUT_MS);

const proxies = new ThreeProxies({
  flags: ["--follow-references"],
  objects: () => [
    {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
      metadata: { name: "ops" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ops" }],
    },
  ],
});

const SPACE = "--namespace=shop";
let flags: readonly string[] = [];

/** kubectl as ops, at the server of all clusters. */
const run = async (args: readonly string[], input?: string) => proxies.run(flags, args, input);

/** It must succeed. */
async function done(args: readonly string[], input?: string) {
  const result = await run(args, input);
  if (result.code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${result.stderr}`);
  return result;
}

/** A field of an object in each cluster, read there; undefined where the object does not exist. */
async function each(what: readonly string[], field: string): Promise<(string | undefined)[]> {
  const path = `jsonpath={${field}}`;
  return Promise.all(
    NAMES.map(async (name) => {
      const { code, stdout } = await proxies.cluster(name).kubectl(["get", SPACE, ...what, "-o", path]);
      return code === 0 ? stdout : undefined;
    }),
  );
}

/** The replicas in each cluster, which add up to `total`, and that `kubectl get` shows as one sum. */
async function expectReplicas(name: string, total: number): Promise<readonly number[]> {
  const parts = (await each(["deployment", name], ".spec.replicas")).map(Number);
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
  const { stdout } = await done(["get", SPACE, "deployment", name, "--no-headers"]);
  expect(stdout.split(/\s+/)[1]).toMatch(new RegExp(`^\\d+/${total}$`));
  return parts;
}

function deployment(name: string, replicas: number | undefined, image = "web:1"): string {
  const labels = { app: name };
  return JSON.stringify({
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "shop", labels } },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...{ selector: { matchLabels: labels }, template: podTemplate(labels, image) },
    },
  });
}

function podTemplate(labels: object, image: string): object {
  const resources = { requests: { cpu: "10m" } };
  return { metadata: { labels }, spec: { containers: [{ name: "main", image, resources }] } };
}

/** Writes that a user's request led to, in all clusters. */
function writes(name: string): string[] {
  const byUser = NAMES.flatMap((cluster) => audited(proxies.cluster(cluster), name)).filter(
    ({ impersonatedUser }) => impersonatedUser?.username === "ops",
  );
  return byUser.map(({ verb, requestURI }) => `${verb} ${requestURI}`).filter((line) => !line.startsWith("get "));
}

beforeAll(async () => {
  flags = [...proxies.through(undefined), ...(await proxies.certificateOf("ops"))];
  await eventually(async () => {
    const scores = await kubectl(proxies.cluster("east"), [
      ...["get", "clusterscore", "--namespace=wao-system", "-o"],
      "jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}",
    ]);
    expect(scores).toBe("True True True");
  });
  await done(["create", "namespace", "shop"]);
}, TEST_TIMEOUT_MS);

test("create namespace, which kubectl sends as protobuf, creates it in every cluster", async () => {
  const labels = await each(["namespace", "shop"], ".metadata.labels.wao-endpoint-proxy");
  expect(labels).toEqual(["local", "west", "south"]);
});

describe("a Deployment by kubectl create", () => {
  test("is divided, and a Warning says where it went", async () => {
    const { stderr } = await done(["create", "deployment", "web", SPACE, "--image=web:1", "--replicas=9"]);
    expect(stderr).toMatch(/^Warning: web: 9 replicas: east 3 \(.*\), south 3 \(.*\), west 3 \(.*\)\n$/);
    expect(await expectReplicas("web", 9)).toEqual([3, 3, 3]);
  });

  test("is exposed in every cluster", async () => {
    await done(["expose", "deployment", "web", SPACE, "--port=80"]);
    expect(await each(["service", "web"], ".spec.selector.app")).toEqual(["web", "web", "web"]);
  });

  test("is labelled, gets an image, and keeps its parts", async () => {
    await done(["label", "deployment", "web", SPACE, "tier=front"]);
    expect(await each(["deployment", "web"], ".metadata.labels.tier")).toEqual(["front", "front", "front"]);
    await done(["set", "image", "deployment/web", SPACE, "web=web:2"]);
    const image = ".spec.template.spec.containers[0].image";
    expect(await each(["deployment", "web"], image)).toEqual(["web:2", "web:2", "web:2"]);
    expect(await expectReplicas("web", 9)).toEqual([3, 3, 3]);
  });

  test("is rolled back with each cluster's own label", async () => {
    await done(["rollout", "status", "deployment/web", SPACE, "--timeout=30s"]);
    expect((await done(["get", "deployment/web", SPACE])).stdout).toMatch(/ 9\/9 .* 9 .* 9 /);
    await done(["rollout", "undo", "deployment/web", SPACE]);
    const image = ".spec.template.spec.containers[0].image";
    expect(await each(["deployment", "web"], image)).toEqual(["web:1", "web:1", "web:1"]);
    const labels = await each(["deployment", "web"], ".spec.template.metadata.labels.wao-endpoint-proxy");
    expect(labels).toEqual(["local", "west", "south"]);
    expect(await expectReplicas("web", 9)).toEqual([3, 3, 3]);
  });

  test("is scaled; --current-replicas and --resource-version meet their conflicts", async () => {
    const { stderr } = await done(["scale", "deployment/web", SPACE, "--replicas=12"]);
    expect(stderr).toContain("Warning: web: 12 replicas: ");
    await expectReplicas("web", 12);
    expect((await run(["scale", "deployment/web", SPACE, "--current-replicas=9", "--replicas=1"])).code).toBe(1);
    await expectReplicas("web", 12);
    await done(["scale", "deployment/web", SPACE, "--current-replicas=12", "--replicas=6", "--timeout=30s"]);
    await expectReplicas("web", 6);
    expect((await run(["scale", "deployment/web", SPACE, "--resource-version=1", "--replicas=1"])).code).toBe(1);
    await expectReplicas("web", 6);
  });

  test.each([
    ["json", '[{"op":"test","path":"/spec/replicas","value":6},{"op":"replace","path":"/spec/replicas","value":7}]', 7],
    ["merge", '{"spec":{"replicas":8}}', 8],
    ["strategic", '{"spec":{"replicas":9,"minReadySeconds":1}}', 9],
  ])("is patched by a %s patch", async (type, patch, total) => {
    await done(["patch", "deployment", "web", SPACE, `--type=${type}`, `--patch=${patch}`]);
    await expectReplicas("web", total);
  });

  test("is scaled by a patch of /scale", async () => {
    await done([
      ...["patch", "deployment", "web", SPACE, "--subresource=scale", "--type=merge"],
      '--patch={"spec":{"replicas":10}}',
    ]);
    await expectReplicas("web", 10);
  });

  test("is edited and replaced; a replacement of an old version is a conflict", async () => {
    const { stdout } = await done(["get", "deployment", "web", SPACE, "-o", "yaml"]);
    const folder = mkdtempSync(join(tmpdir(), "editor-"));
    const editor = join(folder, "edit.sh");
    writeFileSync(editor, `#!/bin/sh\nsed -i 's/^  replicas: 10$/  replicas: 11/' "$1"\n`);
    chmodSync(editor, 0o755);
    process.env["KUBE_EDITOR"] = editor;
    await done(["edit", "deployment", "web", SPACE]);
    rmSync(folder, { recursive: true });
    await expectReplicas("web", 11);
    const late = await run(["replace", "-f", "-"], stdout);
    expect(late.stderr).toContain("Conflict");
    const now = await done(["get", "deployment", "web", SPACE, "-o", "yaml"]);
    await done(["replace", "-f", "-"], now.stdout.replace("replicas: 11", "replicas: 5"));
    await expectReplicas("web", 5);
  });

  test("is deleted everywhere", async () => {
    await done(["delete", "deployment/web", "service/web", SPACE]);
    expect(await each(["deployment", "web"], ".spec.replicas")).toEqual([undefined, undefined, undefined]);
    expect(await each(["service", "web"], ".spec.type")).toEqual([undefined, undefined, undefined]);
  });
});

describe("a Deployment by kubectl apply", () => {
  const apply = async (manifest: string, ...args: string[]) => run(["apply", "-f", "-", ...args], manifest);

  test("--dry-run=server says where it would go and writes nothing", async () => {
    const { stdout, stderr, code } = await apply(deployment("api", 10), "--dry-run=server");
    expect(code).toBe(0);
    expect(stdout).toContain("created (server dry run)");
    expect(stderr).toContain("Warning: api: 10 replicas: ");
    expect(await each(["deployment", "api"], ".spec.replicas")).toEqual([undefined, undefined, undefined]);
  });

  test("is created; applied again it is only read", async () => {
    expect((await apply(deployment("api", 10))).stdout).toContain("created");
    await expectReplicas("api", 10);
    const before = writes("api");
    const again = await apply(deployment("api", 10));
    expect([again.stdout, again.stderr]).toEqual(["deployment.apps/api unchanged\n", ""]);
    expect(writes("api")).toEqual(before);
  });

  test("diff is empty if nothing differs, and shows the change of the sum", async () => {
    expect(await run(["diff", "-f", "-"], deployment("api", 10))).toMatchObject({ code: 0, stdout: "" });
    const { code, stdout } = await run(["diff", "-f", "-"], deployment("api", 12));
    expect(code).toBe(1);
    expect(stdout).toMatch(/-\s+replicas: 10\n\+\s+replicas: 12/);
    await expectReplicas("api", 10);
  });

  test("changes replicas and image", async () => {
    expect((await apply(deployment("api", 12, "web:2"))).stderr).toContain("Warning: api: 12 replicas: ");
    await expectReplicas("api", 12);
    const image = ".spec.template.spec.containers[0].image";
    expect(await each(["deployment", "api"], image)).toEqual(["web:2", "web:2", "web:2"]);
  });

  test("without replicas, which it had before, is 1 as on one server", async () => {
    expect((await apply(deployment("api", undefined, "web:2"))).code).toBe(0);
    await expectReplicas("api", 1);
    await done(["delete", "deployment/api", SPACE]);
  });
});

describe("a Deployment by kubectl apply --server-side", () => {
  const apply = async (manifest: string, ...args: string[]) =>
    run(["apply", "--server-side", "-f", "-", ...args], manifest);

  test("is created and divided; applied again nothing changes", async () => {
    expect((await apply(deployment("ssa", 10))).stdout).toContain("serverside-applied");
    const parts = await expectReplicas("ssa", 10);
    const versions = await each(["deployment", "ssa"], ".metadata.generation");
    expect((await apply(deployment("ssa", 10))).code).toBe(0);
    expect(await expectReplicas("ssa", 10)).toEqual(parts);
    expect(await each(["deployment", "ssa"], ".metadata.generation")).toEqual(versions);
  });

  test("of another manager is a conflict, unless it is forced", async () => {
    const conflict = await apply(deployment("ssa", 8), "--field-manager=other");
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toContain("conflict");
    await expectReplicas("ssa", 10);
    expect((await apply(deployment("ssa", 8), "--field-manager=other", "--force-conflicts")).code).toBe(0);
    await expectReplicas("ssa", 8);
  });

  test("without replicas keeps every part", async () => {
    await done(["delete", "deployment/ssa", SPACE]);
    await apply(deployment("ssa", 7));
    const parts = await expectReplicas("ssa", 7);
    expect((await apply(deployment("ssa", undefined, "web:2"))).code).toBe(0);
    expect(await expectReplicas("ssa", 7)).toEqual(parts);
    expect((await apply(deployment("ssa", undefined, "web:2"))).code).toBe(0);
    expect((await apply(deployment("ssa", 8, "web:2"))).code).toBe(0);
    await expectReplicas("ssa", 8);
    await done(["scale", "deployment/ssa", SPACE, "--replicas=9"]);
    expect((await apply(deployment("ssa", undefined, "web:3"))).code).toBe(0);
    await expectReplicas("ssa", 9);
    await done(["delete", "deployment/ssa", SPACE]);
  });
});

describe("a Helm release, with --follow-references", () => {
  let release: HelmRelease;
  beforeAll(async () => void (release = await HelmRelease.open(proxies)), TEST_TIMEOUT_MS);
  afterAll(() => release[Symbol.dispose]());

  test("is installed: workloads are divided, and what their pods name is where they are", async () => {
    await release.helm("install", "shop", release.chart, "--create-namespace");
    await release.expectEverywhere("hello", 6);
  });

  test("is upgraded: the new replicas are divided and the copies renewed", async () => {
    await release.helm("upgrade", "shop", release.chart, "--set=greeting=servus,replicas=9");
    await release.expectEverywhere("servus", 9);
  });

  test("is rolled back everywhere", async () => {
    await release.helm("rollback", "shop", "1");
    await release.expectEverywhere("hello", 6);
  });

  test("is uninstalled, and leaves nothing behind in any cluster", async () => {
    await release.helm("uninstall", "shop");
    await release.expectNowhere();
  });
});
