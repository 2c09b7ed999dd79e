import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { buildBinaries, foldersFrom } from "@evenkeel/control-plane";
import { type ApiServer, type PodStreams, startApiServer } from "@evenkeel/sim";
import { kubeconfigFor } from "@evenkeel/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

const run = promisify(execFile);

let folder: string;
let server: ApiServer;
let binary: string;
let flags: readonly string[];

/** Plays the containers. */
const podStreams: PodStreams = {
  log: ({ pod }) => [`log of ${pod}\n`],
  exec: async (_, [program = ""], { stdout, stderr }) => {
    if (program === "false") stderr.write("no\n");
    else await new Promise<void>((resolve) => void stdout.write(`ran ${program}\n`, () => resolve()));
    return program === "false" ? 7 : 0;
  },
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "evenkeel-sim-"));
  const toolset = await buildBinaries({ binaries: ["kubectl"], folders: foldersFrom(process.env) });
  binary = toolset.path("kubectl");
  const [certificate, key, kubeconfig] = ["server.crt", "server.key", "kubeconfig"].map((name) => join(folder, name));
  if (certificate === undefined || key === undefined || kubeconfig === undefined) throw new Error("no paths");
  await run("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=sim"],
    ...["-addext", "subjectAltName=IP:127.0.0.1", "-days", "1", "-keyout", key, "-out", certificate],
  ]);
  const users = [{ name: "admin", groups: ["system:masters"], token: "token" }];
  // kubectl sends no token over plain HTTP.
  const tls = { cert: await readFile(certificate), key: await readFile(key) };
  server = await startApiServer({ users, tls, podStreams });
  await writeFile(kubeconfig, kubeconfigFor(server.url, { token: "token", authority: certificate }));
  flags = ["--kubeconfig", kubeconfig, "--cache-dir", join(folder, "cache")];
}, 300_000);

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await run(binary, [...flags, ...args])).stdout.trim();
}

async function manifest(name: string, object: object): Promise<string> {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(object));
  return file;
}

const deployment = (image: string): object => ({
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" } },
  spec: {
    ...{ replicas: 2, selector: { matchLabels: { app: "web" } } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image }] } },
  },
});

test("kubectl applies, shows, scales and deletes a deployment", async () => {
  const file = await manifest("web", deployment("example.com/web:1"));
  expect(await kubectl("apply", "-f", file)).toBe("deployment.apps/web created");
  expect(await kubectl("apply", "-f", file)).toBe("deployment.apps/web unchanged");
  await manifest("web", deployment("example.com/web:2"));
  expect(await kubectl("apply", "-f", file)).toBe("deployment.apps/web configured");
  expect(await kubectl("apply", "--server-side", "-f", file)).toBe("deployment.apps/web serverside-applied");
  expect(await kubectl("scale", "deployment/web", "--replicas=5")).toBe("deployment.apps/web scaled");
  const [header = "", row = ""] = (await kubectl("get", "deployments")).split("\n");
  expect(header.split(/\s+/)).toEqual(["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]);
  expect(row).toMatch(/^web\s+0\/5\s/);
  await kubectl("delete", "deployment", "web", "--timeout=10s");
  expect(await kubectl("get", "deployments", "-o", "name")).toBe("");
});

test("kubectl refuses by the server's word a field that the type does not know", async () => {
  const file = await manifest("odd", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "odd" }, dada: {} });
  await expect(kubectl("apply", "-f", file)).rejects.toThrow('unknown field "dada"');
});

test("kubectl serves custom types: the project's CRDs are established and their objects shown in columns", async () => {
  const crds = new URL("../../../charts/*/files/crds/*.yaml", import.meta.url).pathname;
  await kubectl("apply", "-f", crds);
  expect(await kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=10s")).toContain(
    "condition met",
  );
  await kubectl("apply", "-f", new URL("../../../libs/api/test/fixtures/nodeclass.yaml", import.meta.url).pathname);
  expect(await kubectl("get", "nodeclasses")).toMatch(/^NAME\s.*AGE\n/);
});

test("kubectl creates by protobuf", async () => {
  await kubectl("create", "namespace", "made");
  const inNamespace = (...args: readonly string[]): Promise<string> => kubectl("--namespace", "made", ...args);
  await inNamespace("create", "configmap", "made", "--from-literal=a=b");
  await inNamespace("create", "deployment", "made", "--image=example.com/made:1", "--replicas=3", "--port=80");
  await inNamespace("expose", "deployment", "made", "--target-port=8080");
  const field = (kind: string, path: string) => inNamespace("get", kind, "made", "-o", `jsonpath={${path}}`);
  expect(await field("namespace", ".status.phase")).toBe("Active");
  expect(await field("configmap", ".data.a")).toBe("b");
  expect(await field("deployment", ".spec.replicas")).toBe("3");
  expect(await field("deployment", ".spec.template.spec.containers[0].ports[0].containerPort")).toBe("80");
  expect(await field("service", ".spec.ports[0].targetPort")).toBe("8080");
});

test("kubectl reads logs and runs commands of the test's programs", async () => {
  const spec = { containers: [{ name: "main", image: "example.com/web:1" }] };
  await kubectl(
    "apply",
    "-f",
    await manifest("pod", { apiVersion: "v1", kind: "Pod", metadata: { name: "run" }, spec }),
  );
  expect(await kubectl("logs", "run")).toBe("log of run");
  expect(await kubectl("exec", "run", "--", "ls")).toBe("ran ls");
  await expect(kubectl("exec", "run", "--", "false")).rejects.toMatchObject({ code: 7 });
});

test("kubectl watches", async () => {
  const watch = spawn(binary, [...flags, "get", "configmaps", "--watch", "--output-watch-events"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: watch.stdout })[Symbol.asyncIterator]();
    const file = await manifest("seen", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "seen" } });
    await kubectl("apply", "-f", file);
    expect((await lines.next()).value).toMatch(/^EVENT\s+NAME\s+DATA\s+AGE$/);
    expect((await lines.next()).value).toMatch(/^ADDED\s+seen\s/);
    await kubectl("delete", "-f", file);
    expect((await lines.next()).value).toMatch(/^DELETED\s+seen\s/);
  } finally {
    watch.kill();
  }
});

test("kubectl deletes a namespace with what is in it", async () => {
  const items = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "going" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "content", namespace: "going" } },
  ];
  await kubectl("apply", "-f", await manifest("going", { apiVersion: "v1", kind: "List", items }));
  await kubectl("delete", "namespace", "going", "--timeout=10s");
  expect(await kubectl("get", "namespaces", "-o", "name")).not.toContain("going");
});
