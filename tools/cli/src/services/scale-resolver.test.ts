import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@evenkeel/runtime";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { AddressConnection } from "../reach/address-connection.ts";
import { ServiceClient } from "../reach/service-client.ts";
import { scaleResolverRegistration } from "./scale-resolver.ts";

const object = { kind: "ElastiService", namespace: "shop", name: "nights" };

/** resolver.v1.ServiceActivity of a service that wakes, as its JSON is. */
const waking = {
  service: { namespace: "shop", name: "web" },
  elastiService: "nights",
  ...{ state: "STATE_WAKE", target: "Deployment/web", replicas: 1, pods: { ready: 0, leaving: 0, starting: 1 } },
  ...{ pending: "3", inFlight: "1", activityUnknown: false, activityGap: "" },
};

let server: Server;
let client: ServiceClient;
let activity: object;

beforeEach(async () => {
  server = createServer((request, response) => {
    const isActivity = request.url?.startsWith("/api/v1/Resolver/Activity") === true;
    response.end(JSON.stringify(isActivity ? { services: [activity] } : { obstacles: [], waits: [] }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { signal } = new AbortController();
  const connection = new AddressConnection(address, {});
  client = new ServiceClient({ connection, clock: systemClock, deadline: 5000, signal });
});

afterEach(async () => {
  await client.close();
  server.close();
});

/** What is said of it. */
function described(change: object): Promise<readonly string[]> {
  activity = { ...waking, ...change };
  return scaleResolverRegistration.describe(client, object);
}

describe("the requests of a service", () => {
  test("are the sum over all replicas while each is heard of", async () => {
    const [line] = (await described({})).filter((said) => said.startsWith("Requests"));
    expect(line).toMatch(/: 3 waiting, 1 in flight/);
  });

  test("are at least those of the replicas that are heard of while one is not, and it is named", async () => {
    const said = await described({ activityUnknown: true, activityGap: "Not heard of: scale-resolver-b" });
    expect(said).toContain("Not heard of: scale-resolver-b.");
    expect(said).toContainEqual(expect.stringContaining("at least 3 waiting, 1 in flight"));
  });

  test("are unknown without a name if the service does not say who is silent", async () => {
    expect(await described({ activityUnknown: true })).toContainEqual(expect.stringContaining("at least 3 waiting"));
  });
});

describe("the replicas of a workload", () => {
  test.each([
    ["as they are", {}, /: 1\./],
    ["as not read yet while it is in Serve", { replicas: undefined, state: "STATE_SERVE" }, /: read before/],
    ["as unknown where they matter", { replicas: undefined }, /: unknown\./],
  ])("are shown %s", async (_what, change, value) => {
    const [line] = (await described(change)).filter((said) => said.startsWith("Replicas of Deployment/web"));
    expect(line).toMatch(value);
  });
});
