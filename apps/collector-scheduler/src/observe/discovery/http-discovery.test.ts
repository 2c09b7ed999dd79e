import type { lookup } from "node:dns";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Clock, systemClock } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { CollectedGroups } from "../../../test/collected-groups.ts";
import { blocksOf } from "../../../test/discovery-world.ts";
import type { HttpBlock } from "./discovery-block.ts";
import { isForbidden } from "./forbidden-address.ts";
import { httpDiscovery } from "./http-discovery.ts";

let server: Server;
let url: string;
let folder: string;
let answer: RequestListener;
let requests: IncomingMessage[];

beforeEach(async () => {
  requests = [];
  answer = groups("a:80");
  server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/targets?x=1`;
  folder = await mkdtemp(join(tmpdir(), "http-sd-"));
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const type = { "content-type": "application/json; charset=utf-8" };
function groups(...targets: readonly string[]): RequestListener {
  return (_request, response) =>
    response.writeHead(200, type).end(JSON.stringify([{ targets, labels: { team: "shop" } }]));
}

/** The server of these tests listens where discovery must not connect. */
const notHere = (address: string) => address !== "127.0.0.1" && isForbidden(address);

interface Options {
  readonly clock?: Clock;
  readonly isForbidden?: typeof isForbidden;
  readonly lookup?: typeof lookup;
}

function discover(config: object = {}, { clock = systemClock, ...parts }: Options = {}) {
  const sink = new CollectedGroups();
  const [block] = blocksOf({ http_sd_configs: [{ url, ...config }] }, folder);
  const discovery = httpDiscovery(block as HttpBlock, sink, { clock, files: folder, isForbidden: notHere, ...parts });
  return { sink, [Symbol.dispose]: () => discovery.stop() };
}

describe("http_sd", () => {
  test("asks as Prometheus does and takes the groups, with the URL as a label", async () => {
    using discovered = discover({ refresh_interval: "1m30s" });
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
    const group = discovered.sink.groups.get(`${url}:0`);
    expect(Object.fromEntries(group?.labels ?? [])).toEqual({ __meta_url: url, team: "shop" });
    expect(discovered.sink.addresses).toEqual(["a:80"]);
    expect(requests[0]?.url).toBe("/targets?x=1");
    expect(requests[0]?.headers).toMatchObject({
      accept: "application/json",
      "x-prometheus-refresh-interval-seconds": "90",
    });
  });

  test.each<[string, object, object]>([
    [
      "basic_auth",
      { basic_auth: { username: "me", password_file: "password" } },
      { authorization: "Basic bWU6c2VjcmV0" },
    ],
    ["authorization", { authorization: { credentials_file: "password" } }, { authorization: "Bearer secret" }],
    ["a type", { authorization: { type: "Token", credentials: "abc" } }, { authorization: "Token abc" }],
    ["bearer_token", { bearer_token: "abc" }, { authorization: "Bearer abc" }],
    [
      "http_headers",
      { http_headers: { "X-Tenant": { values: ["shop"] }, "X-Key": { files: ["password"] } } },
      { "x-tenant": "shop", "x-key": "secret" },
    ],
  ])("sends %s", async (_name, config, headers) => {
    await writeFile(join(folder, "password"), "secret\n");
    using discovered = discover(config);
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
    expect(requests[0]?.headers).toMatchObject(headers);
  });

  const redirect: RequestListener = (_request, response) =>
    response.writeHead(302, { ...type, location: "http://169.254.169.254/" }).end();
  const send =
    (text: string, headers: Record<string, string> = type): RequestListener =>
    (_request, response) =>
      response.writeHead(200, headers).end(text);
  test.each<[string, RequestListener]>([
    ["500", (_request, response) => response.writeHead(500, type).end("[]")],
    ["a redirect", redirect],
    ["garbage", send("no json")],
    ["another content type", send("[]", { "content-type": "text/html" })],
    ["a group that is null", send("[null]")],
    ["a broken connection", (request) => request.destroy()],
    ["nothing", () => undefined],
    [
      "a gigabyte",
      (_request, response) => {
        response.writeHead(200, type);
        const chunk = Buffer.alloc(1024 * 1024, " ");
        const more = () => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on("drain", more);
        more();
      },
    ],
  ])("keeps the last good answer when the server answers with %s", async (_name, harm) => {
    const clock = new FakeClock();
    using discovered = discover({}, { clock });
    const { sink } = discovered;
    await eventually(() => expect(sink.addresses).toEqual(["a:80"]));
    const goodAt = clock.now();
    answer = harm;
    await clock.advance(60_000);
    await eventually(async () => {
      expect(requests).toHaveLength(2);
      if (harm.length === 0) await clock.advance(60_000);
      expect(sink.last).toMatchObject({ answered: true, goodAt, fault: expect.any(String) });
    });
    expect(sink.addresses).toEqual(["a:80"]);
    answer = groups("b:80");
    await clock.advance(60_000);
    await eventually(() => expect(sink.addresses).toEqual(["b:80"]));
    expect(sink.last?.fault).toBeUndefined();
  });

  test("that hangs is a fault within a minute, however rarely it is asked", async () => {
    const clock = new FakeClock();
    answer = () => undefined;
    using discovered = discover({ refresh_interval: "1d" }, { clock });
    await eventually(() => expect(requests).toHaveLength(1));
    await clock.advance(60_000);
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: false, fault: expect.any(String) }));
  });

  test("takes an empty list for no targets", async () => {
    const clock = new FakeClock();
    using discovered = discover({}, { clock });
    await eventually(() => expect(discovered.sink.addresses).toEqual(["a:80"]));
    answer = send("[]");
    await clock.advance(60_000);
    await eventually(() => expect(discovered.sink.addresses).toEqual([]));
  });

  test("has not answered while the server is away, and asks again soon", async () => {
    const clock = new FakeClock();
    answer = (request) => request.destroy();
    using discovered = discover({}, { clock });
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: false, fault: expect.any(String) }));
    answer = groups("a:80");
    await clock.advance(5000);
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
  });

  test("does not connect to a metadata address, by number or by name", async () => {
    using direct = discover({ url: "http://169.254.169.254/latest/meta-data" });
    await eventually(() => expect(direct.sink.last?.fault).toContain("must not reach"));
    const deceiving = ((_name: string, _options: object, callback: (...found: unknown[]) => void) =>
      callback(null, [
        { address: "127.0.0.1", family: 4 },
        { address: "169.254.169.254", family: 4 },
      ])) as unknown as typeof lookup;
    using named = discover({ url: url.replace("127.0.0.1", "metadata.example.com") }, { lookup: deceiving });
    await eventually(() => expect(named.sink.last?.fault).toContain("must not reach"));
    expect(requests).toEqual([]);
  });

  test("does not connect to its own machine, by number or by name", async () => {
    for (const host of ["127.0.0.1", "localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"]) {
      using discovered = discover({ url: url.replace("127.0.0.1", host) }, { isForbidden });
      await eventually(() => expect(discovered.sink.last?.fault).toContain("must not reach"));
    }
    expect(requests).toEqual([]);
  });
});

test.each([
  ["169.254.169.254", true],
  ["::ffff:169.254.169.254", true],
  ["::ffff:a9fe:a9fe", true],
  ["fe80::1%eth0", true],
  ["fd00:ec2::254", true],
  ["64:ff9b::a9fe:a9fe", true],
  ["10.0.0.1", false],
  ["127.0.0.1", true],
  ["127.8.9.1", true],
  ["0.0.0.0", true],
  ["::1", true],
  ["::", true],
  ["::ffff:7f00:1", true],
  ["2001:db8::1", false],
  ["example.com", false],
])("whether %s is forbidden: %s", (address, expected) => {
  expect(isForbidden(address)).toBe(expected);
});
