import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeClient, type Secret, secrets as secretType } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { type ApiServer, FaultPlan, startApiServer } from "@evenkeel/sim";
import { kubeconfigFor } from "@evenkeel/testkit";
import type { SecretKey } from "./secret-reader.ts";
import { KubeSecrets } from "./secrets.ts";

/** May read only what RBAC grants. */
const READER = { name: "rebalancer", token: "reader-token" };

/** As the chart grants it: get, and nothing else. */
const RIGHTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: read-secrets }
rules: [{ apiGroups: [""], resources: [secrets], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: read-secrets }
subjects: [{ kind: User, name: rebalancer, apiGroup: rbac.authorization.k8s.io }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read-secrets }
`;

const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");

const never = new AbortController().signal;

describe("values of Secrets", () => {
  const clock = new FakeClock();
  const faults = new FaultPlan();
  let folder: string;
  let server: ApiServer;
  let kube: KubeClient;
  let admin: KubeClient;
  /** The reads that the API server saw. */
  let reads: string[];

  const connect = (token: string): KubeClient => {
    const kubeconfig = join(folder, token);
    writeFileSync(kubeconfig, kubeconfigFor(server.url, { token }));
    const limits = { kubeDeadline: 10_000, kubeConnections: 4, kubeQps: 0, kubeBurst: 1 };
    return connectKube({ settings: { kubeconfig, kubeContext: undefined, ...limits }, env: {}, userAgent: "test" });
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "evenkeel-secrets-"));
    reads = [];
    server = await startApiServer({
      users: [READER, { name: "admin", groups: ["system:masters"], token: "admin-token" }],
      faults: (request, response) => {
        if (request.headers.authorization?.includes(READER.token)) reads.push(`${request.method} ${request.url}`);
        return faults.faults(request, response);
      },
    });
    server.load(RIGHTS);
    kube = connect(READER.token);
    admin = connect("admin-token");
  });
  afterEach(async () => {
    await Promise.all([kube.stop(), admin.stop()]);
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const store = (name: string, data: Record<string, string>, namespace = "default"): Promise<Secret> =>
    admin.resource(secretType).create({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data });

  const reader = (allowCrossNamespace = false): KubeSecrets =>
    new KubeSecrets({ resource: kube.resource(secretType), clock, allowCrossNamespace });

  const read = (key: SecretKey, from = reader()): Promise<string> => from.read("default", key, never);

  test("are decoded", async () => {
    await store("login", { user: base64("admin"), password: base64("pä55\twörd ") });
    expect(await read({ name: "login", key: "user" })).toBe("admin");
    expect(await read({ name: "login", key: "password" })).toBe("pä55\twörd ");
  });

  test.each([
    ["admin\n", "admin"],
    ["admin\r\n", "admin"],
    ["admin\n\n", "admin\n"],
    ["\nadmin", "\nadmin"],
    ["\n", ""],
    ["", ""],
  ])("lose one line break at their end: %j is %j", async (stored, value) => {
    await store("login", { user: base64(stored) });
    expect(await read({ name: "login", key: "user" })).toBe(value);
  });

  test("are read by get alone, once a minute for all callers", async () => {
    await store("login", { user: base64("admin"), password: base64("old") });
    const from = reader();
    const keys = Array.from({ length: 50 }, (_, index) => ({ name: "login", key: index % 2 ? "user" : "password" }));
    await Promise.all(keys.map((key) => read(key, from)));
    await clock.advance(59_999);
    await read({ name: "login", key: "user" }, from);
    expect(reads).toEqual(["GET /api/v1/namespaces/default/secrets/login"]);
    const body = { data: { password: base64("new") } };
    await admin.resource(secretType).patch({ namespace: "default", name: "login" }, { type: "merge", body });
    expect(await read({ name: "login", key: "password" }, from)).toBe("old");
    await clock.advance(2);
    expect(await read({ name: "login", key: "password" }, from)).toBe("new");
    expect(reads).toHaveLength(2);
  });

  test("are looked for again at once where there was none", async () => {
    const from = reader();
    const missing = read({ name: "login", key: "user" }, from);
    await expect(missing).rejects.toMatchObject({
      code: "EK_WEIGHT_SECRET_NOT_FOUND",
      message: expect.stringMatching(/default\/login.*user/),
    });
    await store("login", { user: base64("admin") });
    expect(await read({ name: "login", key: "user" }, from)).toBe("admin");
  });

  test.each<[string, SecretKey, string, string]>([
    ["a key", { name: "login", key: "gone" }, "EK_WEIGHT_SECRET_KEY_MISSING", "gone"],
    ["a key of all objects", { name: "login", key: "constructor" }, "EK_WEIGHT_SECRET_KEY_MISSING", "constructor"],
    ["the name of a key", { name: "login" }, "EK_WEIGHT_SECRET_INCOMPLETE", "key"],
    ["the name of the Secret", { key: "user" }, "EK_WEIGHT_SECRET_INCOMPLETE", "name"],
    ["text", { name: "login", key: "binary" }, "EK_WEIGHT_SECRET_NOT_TEXT", "binary"],
  ])("are refused for want of %s", async (_name, key, code, words) => {
    await store("login", { user: base64("admin"), binary: base64(Buffer.from([0xff, 0xfe, 0x00])) });
    await expect(read(key)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
  });

  test("of another namespace are refused unless that is allowed, and the message names the flag", async () => {
    server.load("{apiVersion: v1, kind: Namespace, metadata: {name: vault}}");
    await store("login", { user: base64("admin") }, "vault");
    const key = { name: "login", namespace: "vault", key: "user" };
    await expect(read(key)).rejects.toMatchObject({
      code: "EK_WEIGHT_SECRET_ELSEWHERE",
      message: expect.stringMatching(/vault\/login.*--allow-cross-namespace-secrets/),
    });
    expect(reads).toEqual([]);
    expect(await read(key, reader(true))).toBe("admin");
  });

  test("of the object's own namespace may name it", async () => {
    await store("login", { user: base64("admin") });
    expect(await read({ name: "login", namespace: "default", key: "user" })).toBe("admin");
    expect(await read({ name: "login", namespace: "", key: "user" })).toBe("admin");
  });

  test("that may not be read say which right is missing where", async () => {
    await store("login", { user: base64("admin") });
    await admin.request({
      method: "DELETE",
      path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/read-secrets",
    });
    await expect(read({ name: "login", key: "user" })).rejects.toMatchObject({
      code: "EK_WEIGHT_SECRET_FORBIDDEN",
      message: expect.stringContaining("default/login"),
    });
  });

  test("that could not be read for now may be retried", async () => {
    await store("login", { user: base64("admin") });
    const takeBack = faults.add({ fault: { kind: "status", code: 500 }, resource: "secrets" });
    await expect(read({ name: "login", key: "user" })).rejects.toMatchObject({
      code: "EK_WEIGHT_SECRET_UNREADABLE",
      recovery: "retryable",
    });
    takeBack();
  });

  test("are returned to callers that still wait after the first caller gave up", async () => {
    await store("login", { user: base64("admin") });
    const from = reader();
    const impatient = new AbortController();
    const first = from.read("default", { name: "login", key: "user" }, impatient.signal);
    const second = read({ name: "login", key: "user" }, from);
    impatient.abort(new Error("the term is over"));
    await expect(first).rejects.toThrow("the term is over");
    expect(await second).toBe("admin");
    expect(reads).toHaveLength(1);
  });

  test("leave no timer behind", async () => {
    await store("login", { user: base64("admin") });
    await read({ name: "login", key: "user" });
    expect(clock.pending).toBe(0);
  });
});
