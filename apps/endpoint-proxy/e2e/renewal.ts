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
import { type Name, NAMES, type ThreeProxies } from "./three-proxies.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
/** More than a proxy takes to read its files again. */
const PATIENCE = 60_000;

interface Client {
  readonly path: string;
  readonly agent: Agent;
  headers: () => Record<string, string>;
}

/**
 * Renews certificates, authorities and tokens of three proxies and their API servers while clients ask. Returns how
 * often each status or error was met.
 */
export async function renewUnderLoad(
  proxies: ThreeProxies,
  { token, pair }: { readonly token: string; readonly pair: Pair },
): Promise<ReadonlyMap<string, number>> {
  using next = new TestAuthority("next");
  const { authority: old, port1 } = proxies.proxy("east");
  const ca = [old.cert, next.cert];
  const counts = new Map<string, number>();
  const total = () => Array.from(counts.values()).reduce((sum, count) => sum + count, 0);
  const robot = async () => (await kubectl(proxies.cluster("east"), ["create", "token", "robot"])).trim();
  let robots = await robot();
  const kept = new Agent({ ca, keepAlive: true, maxSockets: 2 });
  const clients: readonly Client[] = [
    { path: MAPS, agent: new Agent({ ca, ...pair, keepAlive: true }), headers: () => ({}) },
    { path: `/clusters/west${MAPS}`, agent: kept, headers: () => ({ authorization: `Bearer ${token}` }) },
    {
      path: `/clusters/west${MAPS}`,
      agent: new Agent({ ca, maxSockets: 1 }),
      headers: () => ({ authorization: `Bearer ${robots}` }),
    },
    { path: `/clusters/south${MAPS}`, agent: new Agent({ ca, ...pair, keepAlive: true }), headers: () => ({}) },
  ];
  let isOver = false;
  const load = clients.map(async ({ path, agent, headers }) => {
    while (!isOver) {
      const result = await new Promise<string>((resolve) => {
        const asked = request(`https://127.0.0.1:${port1}${path}`, { agent, headers: headers() }, (response) => {
          response.resume().on("end", () => resolve(String(response.statusCode)));
        });
        asked.on("error", (error) => resolve(error.message)).end();
      });
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
  });
  const some = async () => {
    const before = total();
    await eventually(() => expect(total()).toBeGreaterThan(before + 20), PATIENCE);
  };
  await some();

  // Another certificate of the same authority for the peers' proxies and all API servers; both authorities of east.
  const served = await Promise.all((["west", "south"] as const).map((name) => fingerprint(proxies.proxy(name).port2)));
  for (const name of ["west", "south"] as const) {
    proxies.certify(name, proxies.proxy(name).authority.issue({ name: "wao-endpoint-proxy" }));
    proxies.trust(name, "east", `${old.cert}\n${next.cert}`);
  }
  const servers = await Promise.all(NAMES.map((name) => renewServer(proxies, name)));
  const isPeer = async (name: Name, certificate: Pair) => {
    const { authority, port2 } = proxies.proxy(name);
    const asked = { certificate, headers: ["x-remote-user", "ann"] };
    return (await ask(`https://127.0.0.1:${port2}`, MAPS, authority.cert, asked)).status !== 401;
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
  await some();

  // The certificate of east is of the other authority; then the first one is trusted no longer.
  const before = await fingerprint(port1);
  proxies.certify("east", renewed);
  await eventually(async () => expect(await fingerprint(port1)).not.toBe(before), PATIENCE);
  await some();
  const former = old.issue({ name: "wao-endpoint-proxy" });
  for (const name of ["west", "south"] as const) proxies.trust(name, "east", next.cert);
  for (const name of ["west", "south"] as const) {
    await eventually(async () => expect(await isPeer(name, former)).toBe(false), PATIENCE);
  }
  await some();

  // Another authority of users, which kube-apiserver publishes, and another token of a service account.
  const { caFile } = proxies.cluster("east");
  writeFileSync(caFile, `${readFileSync(caFile, "utf8")}\n${next.cert}`);
  robots = await robot();
  const ann = next.issue({ name: "ann" });
  await eventually(async () => {
    const { status } = await ask(`https://127.0.0.1:${port1}`, MAPS, next.cert, { certificate: ann });
    expect(status).toBe(200);
  }, PATIENCE);
  await some();

  isOver = true;
  await Promise.all(load);
  for (const { agent } of clients) agent.destroy();
  return counts;
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
