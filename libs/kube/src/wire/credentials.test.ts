import { describe, expect, test } from "@jest/globals";
import { mkdirSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import type { TLSSocket } from "node:tls";
import { join } from "node:path";
import { CodedError } from "@evenkeel/runtime";
import type { KubeClient } from "./client.ts";
import { answerJson, ScriptedServer, statusBody } from "../testing/scripted-server.ts";
import { HurriedClock, testClient, TestFolder } from "../testing/test-client.ts";

const version = { major: "1", minor: "36", gitVersion: "v1.36.3" };

/** The result of a start: undefined, or the error's code and message. */
async function start(client: KubeClient): Promise<CodedError | undefined> {
  try {
    await client.start({ signal: new AbortController().signal });
    return undefined;
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

interface Door extends AsyncDisposable {
  readonly server: ScriptedServer;
  /** The Authorization header of each request. */
  readonly seen: string[];
  /** The one token that it accepts. */
  token: string;
}

async function guarded(token: string): Promise<Door> {
  const seen: string[] = [];
  const server = await ScriptedServer.start((request, response) => {
    const given = request.headers.authorization ?? "";
    seen.push(given);
    if (given === `Bearer ${door.token}`) answerJson(response, 200, version);
    else answerJson(response, 401, statusBody(401, "Unauthorized", "Unauthorized"));
  });
  const door: Door = { server, seen, token, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  return door;
}

describe("token files", () => {
  test("are read again when the server refuses the token, and the call is retried", async () => {
    using folder = new TestFolder();
    await using door = await guarded("one");
    const { server, seen } = door;
    const tokenFile = folder.file("token", "one\n");
    await using client = testClient(folder.kubeconfig({ server: server.url }, { tokenFile: "token" }));
    expect(await start(client)).toBeUndefined();
    await writeFile(tokenFile, "two");
    door.token = "two";
    expect(await start(client)).toBeUndefined();
    expect(seen).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
  });

  test("are read again after ten seconds, even if the old token works", async () => {
    using folder = new TestFolder();
    await using door = await guarded("one");
    const { server, seen } = door;
    const clock = new HurriedClock();
    const tokenFile = folder.file("token", "one");
    await using client = testClient(folder.kubeconfig({ server: server.url }, { tokenFile }), { clock });
    await start(client);
    await writeFile(tokenFile, "two");
    await start(client);
    clock.ahead += 10_000;
    await start(client);
    expect(seen).toEqual(["Bearer one", "Bearer one", "Bearer two"]);
  });

  test("that are missing for a while leave the last token in use", async () => {
    using folder = new TestFolder();
    await using door = await guarded("one");
    const { server, seen } = door;
    const clock = new HurriedClock();
    const tokenFile = folder.file("token", "one");
    await using client = testClient(folder.kubeconfig({ server: server.url }, { tokenFile }), { clock });
    await start(client);
    await rm(tokenFile);
    clock.ahead += 10_000;
    expect(await start(client)).toBeUndefined();
    expect(seen).toEqual(["Bearer one", "Bearer one"]);
  });

  test("whose token is refused and has not changed fail without a retry and without the token in the message", async () => {
    using folder = new TestFolder();
    await using door = await guarded("other");
    const { server, seen } = door;
    await using client = testClient(folder.kubeconfig({ server: server.url }, { token: "very-secret" }));
    const error = await start(client);
    expect(error?.code).toBe("EK_KUBE_UNAUTHORIZED");
    expect(error?.message).toMatch(new RegExp(`^get version at ${server.url}: [^\\n]*$`));
    expect(error?.message).not.toContain("very-secret");
    expect(seen).toHaveLength(1);
  });

  test("with an expired token are reported with the time of expiry", async () => {
    using folder = new TestFolder();
    await using door = await guarded("other");
    const { server } = door;
    const payload = Buffer.from(JSON.stringify({ exp: Date.UTC(2020, 0, 1) / 1000 })).toString("base64url");
    await using client = testClient(folder.kubeconfig({ server: server.url }, { token: `eyJhIjoxfQ.${payload}.c2ln` }));
    const error = await start(client);
    expect(error?.code).toBe("EK_KUBE_EXPIRED_CREDENTIAL");
    expect(error?.message).toContain("2020-01-01T00:00:00.000Z");
  });
});

describe("a credential program", () => {
  const program = (file: string) => ({
    exec: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: [
        "-e",
        `const status = { token: require("fs").readFileSync(${JSON.stringify(file)}, "utf8") };
         console.log(JSON.stringify({ kind: "ExecCredential", status }));`,
      ],
      interactiveMode: "Never",
    },
  });

  test("runs once, and again when the server refuses its credential", async () => {
    using folder = new TestFolder();
    await using door = await guarded("one");
    const { server, seen } = door;
    const source = folder.file("source", "one");
    await using client = testClient(folder.kubeconfig({ server: server.url }, program(source)));
    await start(client);
    await writeFile(source, "two");
    await start(client);
    door.token = "two";
    expect(await start(client)).toBeUndefined();
    expect(seen).toEqual(["Bearer one", "Bearer one", "Bearer one", "Bearer two"]);
  });

  test("that fails is named with its fault", async () => {
    using folder = new TestFolder();
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "no-such-program" };
    await using client = testClient(folder.kubeconfig({ server: "https://127.0.0.1:1" }, { exec }));
    const error = await start(client);
    expect(error?.code).toBe("EK_KUBE_CREDENTIAL_FAILED");
    expect(error?.message).toMatch(/user u\b.*no-such-program ENOENT$/);
  });
});

describe("certificates", () => {
  test("of the CA are used when the file changes, without a restart", async () => {
    using folder = new TestFolder();
    const [first, second] = [folder.certificate("first"), folder.certificate("second")];
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, version), first);
    const ca = folder.file("ca.crt", first.cert);
    await using client = testClient(folder.kubeconfig({ server: server.url, "certificate-authority": "ca.crt" }));
    expect(await start(client)).toBeUndefined();

    server.present(second);
    for (const socket of server.open) socket.destroy();
    const error = await start(client);
    expect(error?.code).toBe("EK_KUBE_UNTRUSTED_SERVER");
    expect(error?.message).toMatch(/^get version at https:.*\(.*CERT.*\)$/);

    await writeFile(ca, second.cert);
    expect(await start(client)).toBeUndefined();
  });

  test("of the client are used on new connections when the files change", async () => {
    using folder = new TestFolder();
    const serving = folder.certificate("serving");
    const [first, second] = [folder.certificate("first"), folder.certificate("second")];
    const seen: string[] = [];
    await using server = await ScriptedServer.start(
      (request, response) => {
        const { subject } = (request.socket as TLSSocket).getPeerCertificate();
        seen.push(`${String(subject.CN)} over HTTP/${request.httpVersion}`);
        answerJson(response, 200, version);
      },
      { ...serving, requestCert: true, rejectUnauthorized: false },
    );
    const clock = new HurriedClock();
    const files = { certificate: folder.file("client.crt", first.cert), key: folder.file("client.key", first.key) };
    const user = { "client-certificate": files.certificate, "client-key": files.key };
    const cluster = { server: server.url, "certificate-authority": serving.certFile };
    await using client = testClient(folder.kubeconfig(cluster, user), { clock });
    await start(client);
    await start(client);
    await Promise.all([writeFile(files.certificate, second.cert), writeFile(files.key, second.key)]);
    clock.ahead += 10_000;
    await start(client);
    expect(seen).toEqual(["first over HTTP/1.1", "first over HTTP/1.1", "second over HTTP/1.1"]);
  });

  test("that cannot be used are named at startup", async () => {
    using folder = new TestFolder();
    const { certFile, keyFile } = folder.certificate("one");
    const other = folder.certificate("two");
    const garbage = folder.file("garbage.crt", "not a certificate");
    const cases: [object, object, string, RegExp][] = [
      [{ "certificate-authority": "gone.crt" }, {}, "EK_KUBE_MISSING_CA", /gone\.crt/],
      [{ "certificate-authority": garbage }, {}, "EK_KUBE_MISSING_CA", /garbage\.crt/],
      [{}, { tokenFile: "gone" }, "EK_KUBE_MISSING_CREDENTIAL", /\btoken\b.*gone/],
      [{}, { tokenFile: folder.file("empty", "") }, "EK_KUBE_MISSING_CREDENTIAL", /empty/],
      [
        {},
        { "client-certificate": certFile, "client-key": other.keyFile },
        "EK_KUBE_MISSING_CREDENTIAL",
        /client certificate.*https:\/\/127.0.0.1:1/,
      ],
      [{}, { "client-certificate": garbage, "client-key": keyFile }, "EK_KUBE_MISSING_CREDENTIAL", /PEM/],
    ];
    for (const [cluster, user, code, line] of cases) {
      await using client = testClient(folder.kubeconfig({ server: "https://127.0.0.1:1", ...cluster }, user));
      const error = await start(client);
      expect([error?.code, error?.message]).toEqual([code, expect.stringMatching(line)]);
      expect(error?.message).not.toContain("\n");
    }
  });
});

test("a pod uses its service account", async () => {
  using folder = new TestFolder();
  const serving = folder.certificate("serving");
  let authorization: string | undefined;
  await using server = await ScriptedServer.start((request, response) => {
    ({ authorization } = request.headers);
    answerJson(response, 200, version);
  }, serving);
  const serviceAccount = folder.file("serviceaccount");
  mkdirSync(serviceAccount);
  await writeFile(join(serviceAccount, "token"), "pod-token");
  await writeFile(join(serviceAccount, "ca.crt"), serving.cert);
  await writeFile(join(serviceAccount, "namespace"), "here\n");
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) };
  await using client = testClient(undefined, { env, serviceAccount });
  expect(await start(client)).toBeUndefined();
  expect(authorization).toBe("Bearer pod-token");
  expect(await client.namespace()).toBe("here");
});
