import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { dirname, join } from "node:path";
import { connect } from "node:tls";
import { kubectl } from "@evenkeel/e2e";
import { eventually } from "@evenkeel/runtime/testing";
import { expect } from "@jest/globals";
import { type Pair, TestAuthority } from "../src/gateway/testing/test-authority.ts";
import { ask } from "../test/gateway-client.ts";
import { type Name, NAMES, type ThreeProxies, tokensUsed } from "./three-proxies.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
/** More than a proxy takes to read its files again. */
const PATIENCE = 60_000;

/** The second ServiceAccount, and the one of the proxy itself. */
const IMPERSONATOR = "endpoint-proxy-impersonator";
const OWN = "endpoint-proxy";

interface Client {
  readonly path: string;
  readonly agent: () => Agent;
  readonly headers?: () => Record<string, string>;
}

/**
 * Renews every certificate, authority and token of three proxies and their API servers while clients ask. Returns how
 * often each status or error was met.
 */
export async function renewUnderLoad(
  proxies: ThreeProxies,
  { token, pair }: { readonly token: string; readonly pair: Pair },
): Promise<ReadonlyMap<string, number>> {
  using next = new TestAuthority("next");
  using usersFormer = new TestAuthority("users-former");
  using usersNext = new TestAuthority("users-next");
  const { authority: old, port1 } = proxies.proxy("east");
  const { caFile } = proxies.cluster("east");
  const caOfEast = readFileSync(caFile, "utf8");
  const ca = [old.cert, next.cert];
  /** What a user gets who has a certificate of that authority. */
  const statusWith = async (users: TestAuthority) => {
    const url = `https://127.0.0.1:${port1}`;
    return (await ask(url, MAPS, ca.join("\n"), { certificate: users.issue({ name: "ann" }) })).status;
  };
  // The API server publishes its authorities of users.
  writeFileSync(caFile, [caOfEast, usersFormer.cert].join("\n"));
  await eventually(async () => expect(await statusWith(usersFormer)).toBe(200), PATIENCE);

  const robot = async () => (await kubectl(proxies.cluster("east"), ["create", "token", "robot"])).trim();
  let robots = await robot();
  const kept = new Agent({ ca, keepAlive: true, maxSockets: 2 });
  const single = new Agent({ ca, maxSockets: 1 });
  const certified = [new Agent({ ca, ...pair, keepAlive: true }), new Agent({ ca, ...pair, keepAlive: true })] as const;
  const anns = [usersFormer, usersNext].map((users) => users.issue({ name: "ann" }));
  const [annFormer, annNext] = anns.map((ann) => new Agent({ ca, ...ann, keepAlive: true })) as [Agent, Agent];
  let ann = annFormer;
  const clients: readonly Client[] = [
    { path: MAPS, agent: () => certified[0] },
    { path: MAPS, agent: () => ann },
    { path: `/clusters/west${MAPS}`, agent: () => kept, headers: () => ({ authorization: `Bearer ${token}` }) },
    { path: `/clusters/west${MAPS}`, agent: () => single, headers: () => ({ authorization: `Bearer ${robots}` }) },
    { path: `/clusters/south${MAPS}`, agent: () => certified[1] },
  ];
  const load = new Load(port1, clients);
  await load.some();

  // Other tokens of the proxies' own ServiceAccounts. Those of the impersonators are renewed by --impersonator-renewal.
  const impersonations = NAMES.map((name) => tokensUsed(proxies.cluster(name), IMPERSONATOR));
  const own = await Promise.all(NAMES.map(async (name) => proxies.renewToken(name)));

  // Another certificate of the same authority for the peers' proxies and all API servers; both authorities of east.
  const served = await Promise.all((["west", "south"] as const).map((name) => fingerprint(proxies.proxy(name).port2)));
  for (const name of ["west", "south"] as const) {
    proxies.certify(name, proxies.proxy(name).authority.issue({ name: "wao-endpoint-proxy" }));
    proxies.trust(name, "east", `${old.cert}\n${next.cert}`);
  }
  const servers = await Promise.all(NAMES.map((name) => renewServer(proxies, name)));
  const isPeer = async (name: Name, certificate: Pair) => {
    const { authority, port2 } = proxies.proxy(name);
    const headers = ["x-remote-user", "ann"];
    return (await ask(`https://127.0.0.1:${port2}`, MAPS, authority.cert, { certificate, headers })).status !== 401;
  };
  const renewed = next.issue({ name: "wao-endpoint-proxy" });
  for (const [index, name] of (["west", "south"] as const).entries()) {
    await eventually(async () => expect(await isPeer(name, renewed)).toBe(true), PATIENCE);
    await eventually(
      async () => expect(await fingerprint(proxies.proxy(name).port2)).not.toBe(served[index]),
      PATIENCE,
    );
  }
  for (const server of servers) await eventually(server.expectRenewed, PATIENCE);
  await load.some();

  // The certificate of east is of the other authority; then the first one is trusted no longer.
  const before = await fingerprint(port1);
  proxies.certify("east", renewed);
  await eventually(async () => expect(await fingerprint(port1)).not.toBe(before), PATIENCE);
  await load.some();
  const former = old.issue({ name: "wao-endpoint-proxy" });
  for (const name of ["west", "south"] as const) proxies.trust(name, "east", next.cert);
  for (const name of ["west", "south"] as const) {
    await eventually(async () => expect(await isPeer(name, former)).toBe(false), PATIENCE);
  }
  await load.some();

  // Another authority of users and another token of a service account; then the first authority is removed.
  writeFileSync(caFile, [caOfEast, usersFormer.cert, usersNext.cert].join("\n"));
  robots = await robot();
  await eventually(async () => expect(await statusWith(usersNext)).toBe(200), PATIENCE);
  ann = annNext;
  await load.some();
  const remaining = [caOfEast, usersNext.cert].join("\n");
  writeFileSync(caFile, remaining);
  await eventually(async () => {
    // kube-apiserver adds authorities to what it published and removes none: an administrator does.
    await publish(proxies, remaining);
    expect(await statusWith(usersFormer)).toBe(401);
  }, PATIENCE);
  expect(await statusWith(usersNext)).toBe(200);
  await load.some();

  // The requests of this time came with the renewed tokens.
  for (const [index, name] of NAMES.entries()) {
    const cluster = proxies.cluster(name);
    await eventually(() => {
      expect(Array.from(tokensUsed(cluster, OWN))).toContain(own[index]);
      expect(tokensUsed(cluster, IMPERSONATOR).size).toBeGreaterThan(impersonations[index]?.size ?? 0);
    }, PATIENCE);
  }
  await load.some();

  await load.end();
  for (const agent of [kept, single, ...certified, annFormer, annNext]) agent.destroy();
  return load.counts;
}

/** Clients that ask one request after the other. */
class Load {
  /** How often each status or error was met. */
  readonly counts = new Map<string, number>();
  readonly #asked: Map<Client, number>;
  readonly #running: Promise<unknown>;
  #isOver = false;

  constructor(port: number, clients: readonly Client[]) {
    this.#asked = new Map(clients.map((client) => [client, 0]));
    this.#running = Promise.all(clients.map(async (client) => this.#run(port, client)));
  }

  /** Until each client has asked again, more than once. */
  async some(): Promise<void> {
    const before = new Map(this.#asked);
    const more = () => Array.from(this.#asked, ([client, count]) => count - (before.get(client) ?? 0));
    await eventually(() => expect(Math.min(...more())).toBeGreaterThan(5), PATIENCE);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(port: number, client: Client): Promise<void> {
    const { path, agent, headers = () => ({}) } = client;
    while (!this.#isOver) {
      const result = await new Promise<string>((resolve) => {
        const options = { agent: agent(), headers: headers() };
        const sent = request(`https://127.0.0.1:${port}${path}`, options, (response) => {
          response.resume().on("end", () => resolve(String(response.statusCode)));
        });
        sent.on("error", (error) => resolve(error.message)).end();
      });
      this.counts.set(result, (this.counts.get(result) ?? 0) + 1);
      this.#asked.set(client, (this.#asked.get(client) ?? 0) + 1);
    }
  }
}

/** Replaces the authorities of users that the API server of east published. */
async function publish(proxies: ThreeProxies, pem: string): Promise<void> {
  const patch = JSON.stringify({ data: { "client-ca-file": pem } });
  const map = ["configmap", "extension-apiserver-authentication", "-n", "kube-system"];
  await kubectl(proxies.cluster("east"), ["patch", ...map, "--type=merge", "-p", patch]);
}

/** Which certificate a port shows. */
async function fingerprint(port: number): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Replaces the files of an API server's certificate, which it reads again. */
async function renewServer(proxies: ThreeProxies, name: Name): Promise<{ expectRenewed: () => Promise<void> }> {
  const cluster = proxies.cluster(name);
  const { hostname, port } = new URL(cluster.server);
  const before = await fingerprint(Number(port));
  const { certificate, key } = await cluster.serverCertificate("renewed", [`IP:${hostname}`, "IP:127.0.0.1"]);
  const folder = dirname(cluster.caFile);
  copyFileSync(key, join(folder, "kube-apiserver.key"));
  copyFileSync(certificate, join(folder, "kube-apiserver.crt"));
  return { expectRenewed: async () => expect(await fingerprint(Number(port))).not.toBe(before) };
}
