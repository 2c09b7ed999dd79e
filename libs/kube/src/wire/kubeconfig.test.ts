import { describe, expect, test } from "@jest/globals";
import { delimiter } from "node:path";
import { CodedError } from "@evenkeel/runtime";
import { readTarget, type Target } from "./kubeconfig.ts";
import { TestFolder } from "../testing/test-client.ts";

async function read(kubeconfig: string, context?: string): Promise<Target | string> {
  return readTarget({ kubeconfig, context, env: {} }).catch((error: unknown) => {
    if (error instanceof CodedError) return `${error.code}: ${error.message}`;
    throw error;
  });
}

const whole = {
  clusters: [{ name: "c", cluster: { server: "https://host:6443" } }],
  users: [{ name: "u", user: { token: "secret-token" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
};

describe("a kubeconfig", () => {
  test.each([
    ["no YAML", "a: [secret-token\nb: {", "line 2: bad indent"],
    ["an empty file", "", "clusters, users and contexts"],
    ["a list", "- 1", "clusters, users and contexts"],
    ["lists that are none", JSON.stringify({ ...whole, users: 5 }), "users"],
    ["an entry without a name", JSON.stringify({ ...whole, clusters: [{}] }), "clusters[0]"],
    ["no current context", JSON.stringify({ ...whole, "current-context": "" }), "current-context"],
    ["an unknown current context", JSON.stringify({ ...whole, "current-context": "y" }), '"y"'],
    ["a context of an unknown cluster", JSON.stringify({ ...whole, clusters: [] }), 'cluster "c"'],
    ["a context of an unknown user", JSON.stringify({ ...whole, users: [] }), 'user "u"'],
    [
      "a cluster without a server",
      JSON.stringify({ ...whole, clusters: [{ name: "c", cluster: {} }] }),
      "cluster c has no server",
    ],
    [
      "a server that is no URL",
      JSON.stringify({ ...whole, clusters: [{ name: "c", cluster: { server: "host:6443" } }] }),
      '"host:6443"',
    ],
  ])("with %s is refused in one line that names it and contains no secret", async (_, text, named) => {
    using folder = new TestFolder();
    const file = folder.file("config", text);
    const line = await read(file);
    expect(line).toMatch(/^EK_KUBE_BAD_KUBECONFIG: [^\n]*$/);
    expect(line).toContain(file);
    expect(line).toContain(named);
    expect(line).not.toContain("secret-token");
  });

  test("that does not exist is refused, and so is a context that it does not have", async () => {
    using folder = new TestFolder();
    const file = folder.file("config", JSON.stringify(whole));
    expect(await read(folder.file("gone"))).toMatch(/^EK_KUBE_BAD_KUBECONFIG: .*gone/);
    expect(await read(file, "other")).toMatch(/^EK_KUBE_BAD_KUBECONFIG: .*"other"/);
  });

  test("names files relative to itself", async () => {
    using folder = new TestFolder();
    const cluster = { server: "https://host/k8s/c-1", "certificate-authority": "pki/ca.crt", "tls-server-name": "api" };
    const file = folder.kubeconfig(cluster, { tokenFile: "token", as: "someone" });
    expect(await read(file)).toMatchObject({
      namespace: "from-context",
      ca: { file: folder.file("pki/ca.crt") },
      token: { file: folder.file("token") },
      serverName: "api",
      insecure: false,
      headers: { "impersonate-user": "someone" },
    });
  });

  test("of several files takes each name from the first file that has it and skips missing files", async () => {
    using folder = new TestFolder();
    const first = folder.file("first", JSON.stringify({ users: [{ name: "u", user: { token: "mine" } }] }));
    const second = folder.file("second", JSON.stringify(whole));
    const target = await read([folder.file("gone"), first, second].join(delimiter));
    expect(target).toMatchObject({ token: { data: Buffer.from("mine") }, server: new URL("https://host:6443") });
  });
});

test("without kubeconfig, pod and home there is no cluster, and the error names the file", async () => {
  using folder = new TestFolder();
  await expect(readTarget({ env: { HOME: folder.path } })).rejects.toMatchObject({
    code: "EK_KUBE_NO_CLUSTER",
    message: expect.stringContaining(folder.file(".kube/config")),
  });
});
