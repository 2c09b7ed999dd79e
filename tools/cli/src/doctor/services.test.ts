import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@evenkeel/runtime";
import { describe, expect, test } from "@jest/globals";
import { AddressConnection } from "../reach/address-connection.ts";
import type { ReachedService } from "../reach/reach.ts";
import { ServiceClient } from "../reach/service-client.ts";
import { checkServices, checkVersions } from "./services.ts";

/** A service on loopback whose /metrics says `metrics`. */
async function serving(metrics: string, version = "1.0.0", name = "tank-keeper") {
  const server = createServer((_request, response) => response.end(metrics)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const connection = new AddressConnection(new URL(`http://127.0.0.1:${port}`), {});
  const signal = new AbortController().signal;
  const client = new ServiceClient({ connection, clock: systemClock, deadline: 10_000, signal });
  const status = { service: name, version, phase: "running", uptime: 5000, unready: [], settings: new Map() };
  const service: ReachedService = { name, client, status, registration: undefined };
  const stop = async () => {
    await client.close();
    server.close();
  };
  return { service, [Symbol.asyncDispose]: stop };
}

const build = 'evenkeel_build_info{service="tank-keeper",version="1.0.0"} 1\n';

describe("what a service tells of itself", () => {
  test("is in order", async () => {
    await using one = await serving(`${build}evenkeel_state_available 1\nevenkeel_peer_up{peer="sailor"} 1\n`);
    const findings = await checkServices({ reached: [one.service], missed: [] });
    expect(findings.map(({ area, verdict }) => `${area} ${verdict}`)).toEqual([
      "services ok",
      "metrics ok",
      "peers ok",
      "state ok",
    ]);
  });

  test("may be that a peer and the shared state are away", async () => {
    await using one = await serving(`${build}evenkeel_state_available 0\nevenkeel_peer_up{peer="sailor"} 0\n`);
    const [, , peer, state] = await checkServices({ reached: [one.service], missed: [] });
    expect(peer).toMatchObject({ area: "peers", verdict: "warn", message: expect.stringContaining("sailor") });
    expect(state).toMatchObject({ area: "state", verdict: "fail", message: expect.stringContaining("tank-keeper") });
    expect(state?.fix).toContain("EVENKEEL_STATE");
  });

  test("may be that it is not ready, with the reason of each part", async () => {
    await using one = await serving(build);
    const unready = [{ name: "rebalances", reason: "not synced" }];
    const service = { ...one.service, status: { ...one.service.status, unready } };
    const [, reason] = await checkServices({ reached: [service], missed: [] });
    expect(reason).toMatchObject({ verdict: "fail", message: expect.stringContaining("rebalances: not synced") });
  });

  test("is not what something else tells", async () => {
    await using one = await serving("up 1\n");
    const [, metrics] = await checkServices({ reached: [one.service], missed: [] });
    expect(metrics).toMatchObject({ area: "metrics", verdict: "fail" });
  });
});

describe("versions", () => {
  test.each([
    ["are the same", ["1.0.0", "1.0.0"], "ok", /1\.0\.0/],
    ["differ from this program's", ["2.0.0"], "warn", /2\.0\.0.*1\.0\.0/],
    ["differ", ["1.0.0", "2.0.0"], "warn", /tank-keeper 1\.0\.0.*tank-keeper 2\.0\.0/],
  ])("%s", async (_name, versions, verdict, message) => {
    await using one = await serving(build);
    const reached = versions.map((version) => ({ ...one.service, status: { ...one.service.status, version } }));
    expect(checkVersions(reached, "1.0.0")).toMatchObject([{ verdict, message: expect.stringMatching(message) }]);
  });

  test("are not checked if no service answers", () => {
    expect(checkVersions([], "1.0.0")).toEqual([]);
  });
});
