import { afterEach, describe, expect, test } from "@jest/globals";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type ApiServer, type AuditEntry, startApiServer } from "../api-server.ts";
import { Authority, type Certificate } from "./authority.ts";

const servers: ApiServer[] = [];
const audited: AuditEntry[] = [];
afterEach(async () => {
  audited.length = 0;
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

const users = [{ name: "admin", groups: ["system:masters"], token: "token" }];

async function start(tls?: Certificate & { readonly clientCa: string }): Promise<ApiServer> {
  const audit = (entry: AuditEntry): void => void audited.push(entry);
  const server = await startApiServer({ users, audit, ...(tls === undefined ? {} : { tls }) });
  servers.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly userInfo: unknown;
  readonly message: unknown;
}

/** Who the server says that the request is from. */
function whoami(
  server: ApiServer,
  headers: Record<string, string | string[]>,
  tls: Partial<Certificate> & { readonly ca?: string } = {},
): Promise<Answer> {
  const secure = server.url.startsWith("https:");
  const options = { method: "POST", headers: { "content-type": "application/json", ...headers }, agent: false, ...tls };
  return new Promise((resolve, reject) => {
    const url = `${server.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`;
    const request = (secure ? httpsRequest : httpRequest)(url, options, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => {
        const { status, message } = JSON.parse(text) as { status?: { userInfo?: unknown }; message?: unknown };
        resolve({ status: response.statusCode ?? 0, userInfo: status?.userInfo, message });
      });
    });
    request.on("error", reject);
    request.end("{}");
  });
}

describe("a client certificate", () => {
  test("is a user by its CN with groups by its O", async () => {
    using authority = new Authority();
    const server = await start({ ...authority.server(), clientCa: authority.cert });
    const ann = authority.client({ user: "ann", groups: ["dev", "ops"] });
    const { status, userInfo } = await whoami(server, {}, { ...ann, ca: authority.cert });
    expect(status).toBe(201);
    expect(userInfo).toEqual({
      ...{ username: "ann", groups: ["dev", "ops", "system:authenticated"] },
      extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    });
  });

  test("of another authority, or expired, is Unauthorized, and with a valid token it is the token's user", async () => {
    using authority = new Authority();
    using other = new Authority("cluster");
    const server = await start({ ...authority.server(), clientCa: authority.cert });
    for (const certificate of [other.client({ user: "ann" }), authority.client({ user: "ann", days: -1 })]) {
      const tls = { ...certificate, ca: authority.cert };
      expect((await whoami(server, {}, tls)).status).toBe(401);
      const { userInfo } = await whoami(server, { authorization: "Bearer token" }, tls);
      expect(userInfo).toMatchObject({ username: "admin" });
    }
  });

  test("is known by the API server of its own cluster alone", async () => {
    using one = new Authority("cluster");
    using two = new Authority("cluster");
    const [first, second] = await Promise.all([
      start({ ...one.server(), clientCa: one.cert }),
      start({ ...two.server(), clientCa: two.cert }),
    ]);
    const ann = one.client({ user: "ann" });
    expect((await whoami(first, {}, { ...ann, ca: one.cert })).status).toBe(201);
    expect((await whoami(second, {}, { ...ann, ca: two.cert })).status).toBe(401);
  });

  test("of a renewed authority is known on new connections", async () => {
    using old = new Authority();
    using renewed = new Authority();
    const server = await start({ ...old.server(), clientCa: old.cert });
    const ann = renewed.client({ user: "ann" });
    expect((await whoami(server, {}, { ...ann, ca: old.cert })).status).toBe(401);
    server.renewTls({ ...renewed.server(), clientCa: `${old.cert}${renewed.cert}` });
    expect((await whoami(server, {}, { ...ann, ca: renewed.cert })).status).toBe(201);
  });
});

describe("impersonation", () => {
  test("takes every group that is named", async () => {
    const server = await start();
    const headers = { authorization: "Bearer token", "impersonate-user": "ann", "impersonate-group": ["dev", "a, b"] };
    const { userInfo } = await whoami(server, headers);
    expect(userInfo).toMatchObject({ username: "ann", groups: ["dev", "a, b", "system:authenticated"] });
    expect(audited.map(({ user, impersonator }) => [user.name, impersonator?.name])).toEqual([["ann", "admin"]]);
  });

  test("is Forbidden in the words of kube-apiserver", async () => {
    const server = await start();
    server.addUser({ name: "bob", token: "bob" });
    const { status, message } = await whoami(server, {
      ...{ authorization: "Bearer bob", "impersonate-user": "system:serviceaccount:apps:web" },
    });
    expect(status).toBe(403);
    expect(message).toBe(
      'serviceaccounts "web" is forbidden: User "bob" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "apps"',
    );
  });
});
