import { describe, expect, test } from "@jest/globals";
import type { TLSSocket } from "node:tls";
import { MissingCredential } from "../errors.ts";
import { namespaces } from "../objects/resource-types.ts";
import { answerJson, ScriptedServer, statusBody } from "../testing/scripted-server.ts";
import { HurriedClock, testClient, TestFolder } from "../testing/test-client.ts";
import type { GivenTarget } from "./given-target.ts";

const version = { major: "1", minor: "36", gitVersion: "v1.36.3" };

describe("a target given in code", () => {
  test("is reached with its authority, its certificate, its server name and its headers, below its path", async () => {
    using folder = new TestFolder();
    const [serving, own] = [folder.certificate("serving"), folder.certificate("own")];
    const seen: string[] = [];
    await using server = await ScriptedServer.start(
      (request, response) => {
        const socket = request.socket as TLSSocket;
        const name = String(socket.getPeerCertificate().subject.CN);
        seen.push(`${name} ${request.url ?? ""} ${request.headers.authorization ?? ""}`);
        answerJson(response, 200, version);
      },
      { ...serving, requestCert: true, rejectUnauthorized: false },
    );
    const target: GivenTarget = {
      ...{ server: new URL(`${server.url}/clusters/b/`), ca: serving.cert, cert: own.cert, key: own.key },
      headers: { authorization: "Bearer one" },
    };
    await using client = testClient(undefined, { target });
    expect((await client.version()).text).toBe("v1.36.3");
    expect(seen).toEqual(["own /clusters/b/version Bearer one"]);
    const { tls, headers, server: url } = await client.access();
    expect({ tls, headers, href: url.href }).toEqual({
      tls: {
        ...{ rejectUnauthorized: true, ca: Buffer.from(serving.cert) },
        ...{ cert: Buffer.from(own.cert), key: Buffer.from(own.key) },
      },
      headers: { authorization: "Bearer one" },
      href: `${server.url}/clusters/b/`,
    });
  });

  test("whose server has a certificate for another name than the one expected is not trusted", async () => {
    using folder = new TestFolder();
    const serving = folder.certificate("serving");
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, version), serving);
    const target: GivenTarget = { server: new URL(server.url), ca: serving.cert, servername: "peer.example.com" };
    await using client = testClient(undefined, { target });
    await expect(client.version()).rejects.toMatchObject({ code: "EK_KUBE_UNTRUSTED_SERVER" });
  });

  test("is asked for again when the server refuses its token, and after ten seconds", async () => {
    let token = "one";
    let asked = 0;
    const seen: (string | undefined)[] = [];
    await using server = await ScriptedServer.start((request, response) => {
      seen.push(request.headers.authorization);
      if (request.headers.authorization === `Bearer ${token}`) answerJson(response, 200, version);
      else answerJson(response, 401, statusBody(401, "Unauthorized", "Unauthorized"));
    });
    const given: string[] = ["one", "one", "two", "three"];
    const clock = new HurriedClock();
    const target = (): GivenTarget => {
      const authorization = `Bearer ${given[asked++] ?? "three"}`;
      return { server: new URL(server.url), headers: { authorization } };
    };
    await using client = testClient(undefined, { target, clock });
    await client.version();
    clock.ahead += 10_000;
    await client.version();
    token = "two";
    await client.version();
    expect(seen).toEqual(["Bearer one", "Bearer one", "Bearer one", "Bearer two"]);
    expect((await client.access()).headers["authorization"]).toBe("Bearer two");
  });

  test("stays in use while the next one cannot be had for a known reason", async () => {
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, version));
    const clock = new HurriedClock();
    let fails = false;
    const target = (): GivenTarget => {
      if (fails) throw new MissingCredential({ credential: "token", server: server.url, fault: "it is gone" });
      return { server: new URL(server.url) };
    };
    await using client = testClient(undefined, { target, clock });
    await client.version();
    fails = true;
    clock.ahead += 10_000;
    expect((await client.version()).minor).toBe(36);
  });

  test("needs no kubeconfig even if one is set", async () => {
    await using server = await ScriptedServer.start((_, response) =>
      answerJson(response, 200, { kind: "NamespaceList", metadata: { resourceVersion: "1" }, items: [] }),
    );
    await using client = testClient("/no/such/file", { target: { server: new URL(server.url) } });
    expect((await client.resource(namespaces).list()).items).toEqual([]);
  });
});

describe("the access of a client", () => {
  test("has a key that changes with the certificate and stays with the token", async () => {
    using folder = new TestFolder();
    const [first, second] = [folder.certificate("first"), folder.certificate("second")];
    const clock = new HurriedClock();
    let given: GivenTarget = { server: new URL("https://127.0.0.1:1"), cert: first.cert, key: first.key };
    await using client = testClient(undefined, { target: () => given, clock });
    const keys: string[] = [];
    const look = async (): Promise<void> => {
      clock.ahead += 10_000;
      keys.push((await client.access()).connectionKey);
    };
    await look();
    given = { ...given, headers: { authorization: "Bearer two" } };
    await look();
    given = { ...given, cert: second.cert, key: second.key };
    await look();
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });
});
