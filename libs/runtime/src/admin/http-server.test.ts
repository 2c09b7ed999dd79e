import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { defineError } from "../error.ts";
import * as runtimeErrors from "../errors.ts";
import { FakeHost } from "../testing/fake-host.ts";
import { HttpServer, type HttpServerOptions } from "./http-server.ts";

const servers: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop(AbortSignal.abort())));
});

function build(options: Partial<HttpServerOptions> = {}): HttpServer {
  const server = new HttpServer({ name: "harbour", host: "127.0.0.1", port: 0, flag: "port", ...options });
  servers.push(server);
  return server;
}

/** A server whose `/hold` answers when the test says so; `held` resolves when a request has arrived there. */
async function holding() {
  const server = build();
  const [arrived, release] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  server.routes.get("/hold", async () => {
    arrived.resolve(undefined);
    await release.promise;
    return "released\n";
  });
  server.routes.get("/stream", (_request, reply) => {
    reply.raw.writeHead(200, { "content-type": "text/plain" });
    reply.raw.write("begun\n");
    reply.hijack();
    arrived.resolve(undefined);
    void release.promise.then(() => reply.raw.end("ended\n"));
  });
  server.routes.get("/", () => "ok\n");
  await server.start();
  const url = `http://127.0.0.1:${server.port}`;
  return { server, url, held: arrived.promise, release: () => release.resolve(undefined) };
}

/** Gets over a connection that the client would keep; answers with headers and text, or with the error's code. */
function getKept(url: string, agent: Agent): Promise<{ headers: IncomingHttpHeaders; text: string } | string> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ headers: response.headers, text }));
      response.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

/** Whether `promise` has settled after everything that needs no timer has. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("starting to listen", () => {
  test("on port 0 takes a free one and says which", async () => {
    const { server, url } = await holding();
    expect(server.port).toBeGreaterThan(0);
    expect(await (await fetch(url)).text()).toBe("ok\n");
  });

  test("on all addresses is what it does when none is named", async () => {
    const server = new HttpServer({ name: "harbour", port: 0, flag: "port" });
    servers.push(server);
    server.routes.get("/", () => "ok\n");
    await server.start();
    expect((await fetch(`http://127.0.0.1:${server.port}`)).status).toBe(200);
  });

  test("on a port that is taken names the port and the flag that chooses another", async () => {
    const { server: first } = await holding();
    const second = build({ port: first.port });
    const started = second.start();
    await expect(started).rejects.toMatchObject({
      code: "EK_RUNTIME_PORT_IN_USE",
      message: expect.stringContaining(`127.0.0.1:${first.port}`),
    });
    await expect(started).rejects.toThrow("--port");
    await expect(second.stop(AbortSignal.abort())).resolves.toBeUndefined();
  });

  test("on an address that is not this host's says so, with the cause", async () => {
    const server = build({ host: "203.0.113.1" });
    await expect(server.start()).rejects.toMatchObject({
      code: "EK_RUNTIME_CANNOT_LISTEN",
      message: expect.stringContaining("203.0.113.1:0"),
      cause: expect.objectContaining({ code: "EADDRNOTAVAIL" }),
    });
  });
});

function logOf() {
  const host = new FakeHost();
  return { log: host.log(), lines: () => host.lines };
}

describe("an answer to what went wrong", () => {
  const Refused = defineError({ code: "EK_TEST_REFUSED", recovery: "terminal", message: "refused", remedy: "Ask." });

  test("to a body that is too large is 413 with a code", async () => {
    const server = build();
    server.routes.post("/", () => "ok");
    await server.start();
    const response = await fetch(`http://127.0.0.1:${server.port}/`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "x".repeat(1024 * 1024 + 1),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ code: "FST_ERR_CTP_BODY_TOO_LARGE", message: "Request body is too large" });
  });

  test.each([
    [
      "an error of a catalogue",
      new Refused({}, { cause: new Error("by them") }),
      { code: "EK_TEST_REFUSED", message: "refused: by them" },
    ],
    [
      "a surprise, of which only the log tells more,",
      new TypeError("x is undefined"),
      { code: "EK_RUNTIME_INTERNAL", message: runtimeErrors.Internal.entry.message },
    ],
  ])("to %s is 500 with a code", async (_name, error, body) => {
    const server = build();
    server.routes.get("/", () => Promise.reject(error));
    await server.start();
    const response = await fetch(`http://127.0.0.1:${server.port}/`);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual(body);
  });

  test("to a surprise is also a line in the log, with the error and the route", async () => {
    const { log, lines } = logOf();
    const server = build({ log });
    server.routes.get("/tanks/:name", () => Promise.reject(new TypeError("x is undefined")));
    await server.start();
    await fetch(`http://127.0.0.1:${server.port}/tanks/main?token=hunter2`);
    expect(lines()).toMatchObject([
      { level: "error", method: "GET", path: "/tanks/:name", error: { message: "x is undefined" } },
    ]);
    expect(JSON.stringify(lines())).not.toContain("hunter2");
  });

  test("on a path that nobody serves is 404 with a code", async () => {
    const server = build();
    await server.start();
    const response = await fetch(`http://127.0.0.1:${server.port}/nowhere`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "EK_RUNTIME_NO_SUCH_PATH" });
  });

  test("to a parameter that the route does not know is 400: it might have been meant as one that it does", async () => {
    const server = build();
    const querystring = { type: "object", additionalProperties: false, properties: { name: { type: "string" } } };
    server.routes.get("/", { schema: { querystring } }, () => "ok");
    await server.start();
    const statusOf = async (query: string) => (await fetch(`http://127.0.0.1:${server.port}/?${query}`)).status;
    expect([await statusOf("name=a"), await statusOf("nmae=a")]).toEqual([200, 400]);
  });
});

describe("a drain", () => {
  const patient = new AbortController().signal;

  test("with nothing in flight ends at once, although clients keep their connections", async () => {
    const { server, url } = await holding();
    const agent = new Agent({ keepAlive: true });
    await getKept(url, agent);
    expect(await server.drain(patient)).toBe(0);
    agent.destroy();
  });

  test("waits for requests in flight and refuses new ones", async () => {
    const { server, url, held, release } = await holding();
    const answer = fetch(`${url}/hold`).then((response) => response.text());
    await held;
    const drained = server.drain(patient);
    expect(await isSettled(drained)).toBe(false);
    expect(await getKept(url, new Agent())).toBe("ECONNREFUSED");
    release();
    expect(await answer).toBe("released\n");
    expect(await drained).toBe(0);
  });

  test.each([
    ["/hold", "released\n"],
    ["/stream", "begun\nended\n"],
  ])("ends with the last answer, although the client would keep its connection: %s", async (path, text) => {
    const { server, url, held, release } = await holding();
    const agent = new Agent({ keepAlive: true });
    const answer = getKept(url + path, agent);
    await held;
    const drained = server.drain(patient);
    await isSettled(drained);
    release();
    expect(await answer).toMatchObject({ text });
    expect(await drained).toBe(0);
    agent.destroy();
  });

  test("tells clients with its last answers that their connection ends", async () => {
    const { server, url, held, release } = await holding();
    const agent = new Agent({ keepAlive: true });
    const answer = getKept(`${url}/hold`, agent);
    await held;
    const drained = server.drain(patient);
    release();
    expect(await answer).toMatchObject({ headers: { connection: "close" } });
    await drained;
  });

  test("cuts what is in flight at its deadline and says how many requests that were", async () => {
    const { server, url, held } = await holding();
    const deadline = new AbortController();
    const answers = [getKept(`${url}/hold`, new Agent()), getKept(`${url}/stream`, new Agent())];
    await held;
    await getKept(url, new Agent());
    const drained = server.drain(deadline.signal);
    expect(await isSettled(drained)).toBe(false);
    deadline.abort();
    expect(await drained).toBe(2);
    expect(await Promise.all(answers)).toEqual(["ECONNRESET", "ECONNRESET"]);
  });

  test("cuts at once when its deadline is over already", async () => {
    const { server, url, held } = await holding();
    const answer = getKept(`${url}/hold`, new Agent());
    await held;
    expect(await server.drain(AbortSignal.abort())).toBe(1);
    expect(await answer).toBe("ECONNRESET");
  });

  test("does not count requests whose client has gone", async () => {
    const { server, url, held } = await holding();
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("GET /hold HTTP/1.1\r\nhost: a\r\n\r\n");
    await held;
    socket.destroy();
    expect(await server.drain(patient)).toBe(0);
  });

  test("may come twice, before a stop, and without a start", async () => {
    const { server } = await holding();
    expect(await server.drain(patient)).toBe(0);
    expect(await server.drain(patient)).toBe(0);
    await expect(server.stop(patient)).resolves.toBeUndefined();
    expect(await build().drain(patient)).toBe(0);
  });
});
