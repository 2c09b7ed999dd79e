import { expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { answerJson, ScriptedServer, statusBody } from "../testing/scripted-server.ts";
import { HurriedClock, testClient } from "../testing/test-client.ts";
import { ServiceAccountToken } from "./service-account-token.ts";

const account = { namespace: "proxy", name: "impersonator" };
const MINUTE = 60_000;

/** A server that issues tokens `1`, `2` and so on, valid for ten minutes; and a source that asks it. */
async function issuer(renewal?: number): Promise<{
  readonly server: ScriptedServer;
  readonly clock: HurriedClock;
  readonly source: ServiceAccountToken;
  refuses: boolean;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  let issued = 0;
  const server = await ScriptedServer.start((_, response) => {
    if (world.refuses) {
      answerJson(response, 403, statusBody(403, "Forbidden", "no"));
      return;
    }
    issued += 1;
    const spec = { expirationSeconds: 600 };
    answerJson(response, 201, { kind: "TokenRequest", metadata: {}, spec, status: { token: `${issued}` } });
  });
  const clock = new HurriedClock();
  const kube = testClient(undefined, { target: { server: new URL(server.url) }, clock });
  const source = new ServiceAccountToken({ kube, account, clock, ...(renewal !== undefined && { renewal }) });
  const world = {
    ...{ server, clock, source, refuses: false },
    [Symbol.asyncDispose]: async () => {
      await kube.stop();
      await server[Symbol.asyncDispose]();
    },
  };
  return world;
}

test("a token is requested once and used for 80 % of its life", async () => {
  await using world = await issuer();
  const { server, clock, source } = world;
  expect(await Promise.all([source.token(), source.token()])).toEqual(["1", "1"]);
  clock.ahead += 7.9 * MINUTE;
  expect(await source.token()).toBe("1");
  expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
    ["POST", "/api/v1/namespaces/proxy/serviceaccounts/impersonator/token"],
  ]);
});

test("after 80 % the next token is requested while the last one stays in use", async () => {
  await using world = await issuer();
  const { server, clock, source } = world;
  await source.token();
  clock.ahead += 8 * MINUTE;
  expect(await Promise.all([source.token(), source.token()])).toEqual(["1", "1"]);
  await eventually(async () => (await source.token()) === "2");
  expect(server.requests).toHaveLength(2);
});

test("a token is renewed earlier if that is asked for, and not later than after 80 %", async () => {
  await using early = await issuer(MINUTE);
  await early.source.token();
  early.clock.ahead += 0.9 * MINUTE;
  expect(await early.source.token()).toBe("1");
  early.clock.ahead += 0.1 * MINUTE;
  await early.source.token();
  await eventually(async () => (await early.source.token()) === "2");
  await using late = await issuer(60 * MINUTE);
  await late.source.token();
  late.clock.ahead += 8 * MINUTE;
  await late.source.token();
  await eventually(async () => (await late.source.token()) === "2");
});

test("a token that cannot be renewed stays in use until it expires", async () => {
  await using world = await issuer();
  const { server, clock, source } = world;
  await source.token();
  world.refuses = true;
  clock.ahead += 8 * MINUTE;
  expect(await source.token()).toBe("1");
  await eventually(() => server.requests.length === 2);
  await eventually(async () => {
    clock.ahead += 5_000;
    await source.token();
    return server.requests.length > 2;
  });
  clock.ahead += 2 * MINUTE;
  await expect(source.token()).rejects.toMatchObject({ code: "EK_KUBE_FORBIDDEN" });
  world.refuses = false;
  expect(await source.token()).toBe("2");
});

test("a token that a server refused is replaced", async () => {
  await using world = await issuer();
  const { source } = world;
  source.discard(await source.token());
  expect(await source.token()).toBe("2");
  source.discard("1");
  expect(await source.token()).toBe("2");
});
