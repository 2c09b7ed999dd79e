import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request } from "node:https";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { TestAuthority } from "../src/gateway/testing/test-authority.ts";
import { ALICE, TestCluster } from "./gateway-world.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

test("certificates, authorities and tokens are renewed under load without a failed request", async () => {
  await using tokyo = await TestCluster.start("tokyo");
  await using osaka = await TestCluster.start("osaka");
  using next = new TestAuthority("next");
  tokyo.join(osaka);
  osaka.join(tokyo);
  await tokyo.reload();
  await osaka.reload();
  const ca = [tokyo.authority.cert, next.cert];
  const kept = new Agent({ ca, keepAlive: true, maxSockets: 2 });
  const certified = new Agent({ ca, ...tokyo.authority.issue({ name: "bob" }), keepAlive: true, maxSockets: 2 });
  const authorization = `Bearer ${ALICE}`;
  const statuses = new Map<string, number>();
  const one = (agent: Agent | false, headers: Record<string, string>) =>
    new Promise<void>((resolve) => {
      const done = (result: string) => {
        statuses.set(result, (statuses.get(result) ?? 0) + 1);
        resolve();
      };
      const asked = request(`${tokyo.users}/clusters/osaka${MAPS}`, { agent, ca, headers }, (response) => {
        response.resume().on("end", () => done(String(response.statusCode)));
      });
      asked.on("error", (error) => done(error.message));
      asked.end();
    });
  let isOver = false;
  const load = Array.from({ length: 4 }, async (_, index) => {
    while (!isOver) {
      if (index === 0) await one(certified, {});
      else await one(index === 1 ? false : kept, { authorization });
    }
  });
  const some = async () => {
    const before = total();
    await eventually(() => expect(total()).toBeGreaterThan(before + 20));
  };
  const total = () => Array.from(statuses.values()).reduce((sum, count) => sum + count, 0);
  const renewed = async () => {
    await tokyo.reload();
    await osaka.reload();
    await some();
  };
  await some();

  // Another certificate of the same authority, for both ports of both clusters and for the API server.
  for (const cluster of [tokyo, osaka]) cluster.certify(cluster.authority.issue({ name: "wao-endpoint-proxy" }));
  osaka.api.renewTls(osaka.authority.issue({ name: "kube-apiserver" }));
  await renewed();
  // Another authority of the peer: first both are trusted, then the certificate changes, then the old one goes.
  osaka.adopt("tokyo", tokyo.port2, `${tokyo.authority.cert}\n${next.cert}`);
  await renewed();
  tokyo.certify(next.issue({ name: "wao-endpoint-proxy" }));
  await renewed();
  osaka.adopt("tokyo", tokyo.port2, next.cert);
  await renewed();
  // Another authority of users.
  await tokyo.publish(`${tokyo.authority.cert}\n${next.cert}`);
  await some();
  // Another token of the account that impersonates.
  for (const cluster of [tokyo, osaka]) await cluster.renewToken();
  await some();

  isOver = true;
  await Promise.all(load);
  for (const agent of [kept, certified]) agent.destroy();
  expect(Array.from(statuses.keys())).toEqual(["200"]);
});

test("a certificate whose authority is removed is refused on a connection that is open already", async () => {
  await using tokyo = await TestCluster.start("tokyo");
  using next = new TestAuthority("next");
  const agent = new Agent({
    ...{ ca: tokyo.authority.cert, keepAlive: true, maxSockets: 1 },
    ...tokyo.authority.issue({ name: "bob" }),
  });
  const status = () =>
    new Promise<number>((resolve, reject) => {
      const asked = request(tokyo.users + MAPS, { agent }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      asked.on("error", reject).end();
    });
  await eventually(async () => expect(await status()).toBe(200));
  // One that has made no request when the authority is removed.
  const unused = connectHttp2(tokyo.users, { ca: tokyo.authority.cert, ...tokyo.authority.issue({ name: "bob" }) });
  await once(unused, "remoteSettings");
  await tokyo.publish(next.cert);
  await eventually(async () => expect(await status()).toBe(401));
  agent.destroy();
  const stream = unused.request({ ":path": MAPS });
  const [head] = (await once(stream, "response")) as [Record<string, unknown>];
  unused.destroy();
  expect(head[":status"]).toBe(401);
});
