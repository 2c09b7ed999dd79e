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
    expect(await described({})).toContain("3 requests wait at the resolver, and 1 is on its way through it.");
    expect(await described({ pending: "1", inFlight: "2" })).toContain(
      "1 request waits at the resolver, and 2 are on their way through it.",
    );
  });

  test("are at least those of the replicas that are heard of while one is not, and it is named", async () => {
    const said = await described({ activityUnknown: true, activityGap: "Not heard of: scale-resolver-b" });
    expect(said).toContain("How many requests wait is unknown. Not heard of: scale-resolver-b.");
    expect(said).toContain("At least 3 requests wait at the resolver, and 1 is on its way through it.");
  });

  test("are unknown without a name if the service does not say who is silent", async () => {
    expect(await described({ activityUnknown: true })).toContain(
      "How many requests wait is unknown. Not every replica of the resolver says what it has.",
    );
  });
});

describe("the replicas of a workload", () => {
  test.each([
    ["how many are asked for", {}, "1 replica of Deployment/web is asked for."],
    ["that several are asked for", { replicas: 2 }, "2 replicas of Deployment/web are asked for."],
    [
      "that nobody had to read them while it serves",
      { replicas: undefined, state: "STATE_SERVE" },
      "The replicas of Deployment/web are read when it is about to sleep.",
    ],
    [
      "that they are unknown where they decide something",
      { replicas: undefined },
      "The replicas of Deployment/web are unknown.",
    ],
  ])("are told: %s", async (_what, change, sentence) => {
    expect(await described(change)).toContain(sentence);
  });
});
