import { describe, expect, test } from "@jest/globals";
import { HttpServer } from "@evenkeel/runtime";
import type { AccessObject, Authorizer } from "../auth/authorizer.ts";
import type { ReadAccess } from "../auth/read-access.ts";
import { decisionsService } from "../decisions/decisions-service.ts";
import { any, resolver, startServer } from "../testing/rpc-world.ts";

const objects = [{ group: "elasti.truefoundry.com", resource: "elastiservices" }];
const shop = { namespace: "shop" };
const one = { namespace: "shop", name: "a" };
const checkout = { service: { namespace: "shop", name: "checkout" } };

/**
 * Knows `all`, who may do everything, `shop`, who may do everything in the namespace shop, and `guest`, who may do
 * nothing.
 */
class Rights implements Authorizer {
  readonly asked: { verb: string; object: AccessObject }[] = [];

  authorize(token: string, verb: string, object: AccessObject) {
    this.asked.push({ verb, object });
    if (!["all", "shop", "guest"].includes(token)) return Promise.resolve({ allowed: false as const });
    const allowed = token === "all" || (token === "shop" && object.namespace === "shop");
    return Promise.resolve({ allowed, user: token });
  }
}

interface Question {
  readonly token?: string;
  /** Posted, if there is one. */
  readonly body?: object | undefined;
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The admin port of a service with decisions, a resolver and a page of its own, asked without a network between. */
async function adminPort(access: Partial<ReadAccess> = {}) {
  const rights = new Rights();
  const source = { list: () => Promise.resolve([]), watch: () => (async function* () {})() };
  const services = [any(decisionsService({ source, recording: () => undefined })), any(resolver())];
  const running = await startServer(services, { authorizer: rights });
  const http = new HttpServer({ name: "admin", host: "127.0.0.1", port: 0, flag: "admin-port" });
  for (const path of ["/", "/metrics", "/dashboard/", "/api/v1/Runtime/Status"])
    http.routes.get(path, () => ({ path }));
  running.server.serveJson(http.routes, { reads: "open", objects, ...access });
  const ask = async (url: string, { token, body, from = "10.1.2.3", headers = {} }: Question = {}) => {
    const response = await http.routes.inject({
      url,
      method: body ? "POST" : "GET",
      remoteAddress: from,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body && { payload: body }),
    });
    const { code } = JSON.parse(response.body.startsWith("{") ? response.body : "{}") as { code?: string };
    return { status: response.statusCode, code, headers: response.headers };
  };
  const dispose = async () => {
    await running.stop();
    await http.routes.close();
  };
  return { ask, rights, [Symbol.asyncDispose]: dispose };
}

describe("reading", () => {
  test("needs no token unless the setting says so", async () => {
    await using port = await adminPort();
    for (const url of ["/api/v1/Resolver/Activity", "/api/v1/Runtime/Status", "/"]) {
      expect(await port.ask(url)).toMatchObject({ status: 200 });
    }
    expect(port.rights.asked).toEqual([]);
  });

  test.each(["/api/v1/Resolver/Activity", "/api/v1/Decisions/List", "/api/v1/Runtime/Status", "/"])(
    "%s needs a token with read access",
    async (url) => {
      await using port = await adminPort({ reads: "token" });
      const anonymous = await port.ask(url);
      expect(anonymous).toMatchObject({ status: 401, code: "EK_RPC_UNAUTHENTICATED" });
      expect(anonymous.headers["www-authenticate"]).toBe("Bearer");
      expect(await port.ask(url, { token: "unknown" })).toMatchObject({ status: 401 });
      expect(await port.ask(url, { token: "guest" })).toMatchObject({ status: 403, code: "EK_RPC_FORBIDDEN" });
      expect(await port.ask(url, { token: "shop" })).toMatchObject({ status: 403, code: "EK_RPC_FORBIDDEN" });
      expect(await port.ask(url, { token: "all" })).toMatchObject({ status: 200 });
    },
  );

  test.each(["/metrics", "/dashboard/"])("%s never needs a token", async (url) => {
    await using port = await adminPort({ reads: "token" });
    expect(await port.ask(url)).toMatchObject({ status: 200 });
  });

  test.each([
    ["a namespace", "/api/v1/Resolver/Activity?namespace=shop", undefined, "list", shop],
    ["what is no object by its name", "/api/v1/Resolver/Activity?namespace=shop&name=a", undefined, "list", shop],
    ["what is no object by its name in a message", "/api/v1/Resolver/Preview", checkout, "list", shop],
    ["decisions about an object", "/api/v1/Decisions/List?object=ElastiService/shop/a", undefined, "get", one],
    ["a stream about an object", "/api/v1/Decisions/Watch?object=ElastiService/shop/a", undefined, "get", one],
  ])("of %s needs access to the object or the namespace alone", async (_name, url, body, verb, object) => {
    await using port = await adminPort({ reads: "token" });
    await port.ask(url, { token: "shop", body });
    expect(port.rights.asked).toEqual([{ verb, object: { ...objects[0], ...object } }]);
    expect(
      await port.ask(url.replaceAll("shop", "bank"), {
        token: "shop",
        body: body && { service: { namespace: "bank", name: "a" } },
      }),
    ).not.toMatchObject({ status: 200 });
  });

  test("of everything needs access to each namespace that the service watches, and to no other", async () => {
    await using watched = await adminPort({ reads: "token", namespaces: ["shop"] });
    expect(await watched.ask("/api/v1/Runtime/Status", { token: "shop" })).toMatchObject({ status: 200 });
    await using more = await adminPort({ reads: "token", namespaces: ["shop", "bank"] });
    expect(await more.ask("/api/v1/Runtime/Status", { token: "shop" })).toMatchObject({ status: 403 });
  });

  test("of everything needs access to all namespaces where the list of watched ones is empty", async () => {
    await using port = await adminPort({ reads: "token", namespaces: [] });
    expect(await port.ask("/api/v1/Runtime/Status")).toMatchObject({ status: 401 });
    expect(await port.ask("/api/v1/Runtime/Status", { token: "shop" })).toMatchObject({ status: 403 });
    expect(await port.ask("/api/v1/Runtime/Status", { token: "all" })).toMatchObject({ status: 200 });
  });
});

describe("a call that changes something", () => {
  const pause = (from: string, headers = {}) => ({ token: "all", body: checkout, from, headers });

  test.each(["10.1.2.3", "192.168.0.1", "::ffff:10.1.2.3", "2001:db8::1"])(
    "is refused over plain HTTP from %s",
    async (from) => {
      await using port = await adminPort();
      const refused = await port.ask("/api/v1/Resolver/Pause", pause(from));
      expect(refused).toMatchObject({ status: 403, code: "EK_RPC_PLAINTEXT_REFUSED" });
      expect(port.rights.asked).toEqual([]);
    },
  );

  test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])(
    "is served over plain HTTP from %s",
    async (from) => {
      await using port = await adminPort();
      expect(await port.ask("/api/v1/Resolver/Pause", pause(from))).toMatchObject({ status: 200 });
    },
  );

  test("is not taken for one from loopback because a header says so", async () => {
    await using port = await adminPort();
    const headers = { "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1", "x-forwarded-proto": "https" };
    expect(await port.ask("/api/v1/Resolver/Pause", pause("10.1.2.3", headers))).toMatchObject({
      status: 403,
      code: "EK_RPC_PLAINTEXT_REFUSED",
    });
  });
});
