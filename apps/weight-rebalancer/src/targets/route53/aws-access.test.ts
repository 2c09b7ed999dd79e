import { describe, expect, test } from "@jest/globals";
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { explain } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { codeOf, Route53World, weighted, write } from "../../../test/route53-world.ts";
import type { Route53Spec } from "./aws-identity.ts";
import { route53Fault } from "./route53-fault.ts";

/** A forwarding proxy on loopback that notes what goes through it. */
async function startProxy() {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url = "", headers } = incoming;
    seen.push(url);
    const onward = httpRequest(url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Access key ids by which Route 53 was called, in order. */
function watchKeys({ route53 }: Route53World): string[] {
  const keys: string[] = [];
  const when = ({ headers }: { headers: { authorization?: string | undefined } }) => {
    keys.push(/Credential=([^/]+)\//.exec(headers.authorization ?? "")?.[1] ?? "none");
    return false;
  };
  route53.faults.add({ fault: { kind: "reset" }, when });
  return keys;
}

describe("credentials", () => {
  test("are those of the Secret, with its session token", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const tokens: unknown[] = [];
    const when = ({ headers }: { headers: Record<string, unknown> }) => {
      tokens.push(headers["x-amz-security-token"]);
      return false;
    };
    world.route53.faults.add({ fault: { kind: "reset" }, when });
    const keys = watchKeys(world);
    world.secrets.values["token"] = "session\n";
    const secretRef = {
      accessKeyIDSecretRef: { key: "id" },
      secretAccessKeySecretRef: { key: "key" },
      sessionTokenSecretRef: { key: "token" },
    };
    await world.read(world.target("blue", { auth: { secretRef } }));
    expect(tokens).toEqual(["session"]);
    expect(keys).toEqual(["AKIDEXAMPLE"]);
  });

  test("change with the Secret", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    const keys = watchKeys(world);
    const target = world.target("blue");
    await world.read(target, 60_000);
    await world.read(target, 60_000);
    world.secrets.values["id"] = "AKIDROTATED";
    await world.read(target, 60_000);
    await world.write(target, 9);
    expect(new Set(keys.slice(1))).toEqual(new Set(["AKIDROTATED"]));
    expect(keys[0]).toBe("AKIDEXAMPLE");
  });

  test("of one do not open to another what was read with them", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    await world.read(world.target("blue"), 60_000);
    world.secrets.values["other"] = "AKIDOTHER";
    const secretRef = { accessKeyIDSecretRef: { key: "other" }, secretAccessKeySecretRef: { key: "key" } };
    const when = ({ headers }: { headers: { authorization?: string | undefined } }) =>
      headers.authorization?.includes("AKIDOTHER") === true;
    world.route53.faults.add({ fault: { kind: "status", code: 403 }, when });
    const stranger = world.target("blue", { auth: { secretRef } });
    expect(await codeOf(world.read(stranger, 60_000))).toBe("EK_WEIGHT_ROUTE53_DENIED");
    expect(await codeOf(world.until(write(stranger, 9)))).toBe("EK_WEIGHT_ROUTE53_DENIED");
    expect(world.weights()).toEqual({ blue: 8 });
  });

  test("that may not take the role are denied, and the message names the role", async () => {
    const sts = createServer((_request, response) => {
      const error =
        "<Type>Sender</Type><Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message>";
      const body = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>${error}</Error></ErrorResponse>`;
      response.writeHead(403, { "content-type": "text/xml" }).end(body);
    });
    await new Promise<void>((resolve) => sts.listen(0, "127.0.0.1", resolve));
    const stsEndpoint = `http://127.0.0.1:${(sts.address() as AddressInfo).port}`;
    try {
      await using world = await Route53World.start([weighted("blue", 8)], { targets: { stsEndpoint } });
      const roleARN = "arn:aws:iam::123456789012:role/weights";
      const target = world.target("blue", { auth: { ...world.spec("blue").auth, assumeRole: { roleARN } } });
      for (const call of [() => world.read(target), () => world.write(target, 9)]) {
        const fault = await call().catch((error: unknown) => error);
        expect(fault).toMatchObject({ code: "EK_WEIGHT_ROUTE53_DENIED", recovery: "terminal" });
        expect(explain(fault)).toContain(roleARN);
        expect(explain(fault)).toContain("sts:AssumeRole");
      }
      expect(world.calls).toEqual([]);
    } finally {
      sts.closeAllConnections();
      await new Promise((resolve) => sts.close(resolve));
    }
  });

  test("are in no error and no log line", async () => {
    await using world = await Route53World.start([weighted("blue", 8)]);
    world.secrets.values["key"] = "very-secret-key";
    world.route53.faults.add({ fault: { kind: "status", code: 403 } });
    const fault = await world.read(world.target("blue")).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "EK_WEIGHT_ROUTE53_DENIED" });
    for (const text of [explain(fault), JSON.stringify(fault), ...world.log])
      expect(text).not.toContain("very-secret-key");
  });

  test("are not repeated from an answer that repeats what was signed", () => {
    const said = "The Canonical String should have been 'x-amz-security-token:very-secret'";
    const thrown = Object.assign(new Error(said), {
      name: "SignatureDoesNotMatch",
      $metadata: { httpStatusCode: 403 },
      $response: { body: "very-secret" },
    });
    const error = route53Fault(thrown, "Z1");
    expect(error.code).toBe("EK_WEIGHT_ROUTE53_DENIED");
    expect(`${explain(error)} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain("very-secret");
  });
});

describe("a proxy", () => {
  test("is used when the environment names one", async () => {
    await using proxy = await startProxy();
    await using world = await Route53World.start([weighted("blue", 8)], {
      targets: { env: { HTTP_PROXY: proxy.url } },
    });
    expect(await world.read(world.target("blue"))).toMatchObject({ weight: 8 });
    expect(proxy.seen).toHaveLength(1);
    expect(proxy.seen[0]).toContain("/2013-04-01/hostedzone/Z1/rrset");
  });

  test("is not used for what NO_PROXY names", async () => {
    await using proxy = await startProxy();
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" };
    await using world = await Route53World.start([weighted("blue", 8)], { targets: { env } });
    expect(await world.read(world.target("blue"))).toMatchObject({ weight: 8 });
    expect(proxy.seen).toEqual([]);
  });
});

describe("the AWS identity of the process", () => {
  const AMBIENT = { targets: { ambient: new Set(["default"]) } };

  /** A target without auth.secretRef. */
  function withoutKey(world: Route53World, namespace: string, more: Partial<Route53Spec> = {}) {
    const spec: Partial<Route53Spec> = { ...world.spec("blue", more) };
    if (more.auth === undefined) delete spec.auth;
    return world.targets.target(namespace, spec as Route53Spec);
  }

  test("is not used for a namespace that is not allowed", async () => {
    await using world = await Route53World.start([weighted("blue", 1)], AMBIENT);
    const reading = codeOf(world.read(withoutKey(world, "tenant")));
    expect(await reading).toBe("EK_WEIGHT_ROUTE53_AMBIENT_DENIED");
    const role = { auth: { assumeRole: { roleARN: "arn:aws:iam::123456789012:role/any" } } };
    expect(await codeOf(world.read(withoutKey(world, "tenant", role)))).toBe("EK_WEIGHT_ROUTE53_AMBIENT_DENIED");
    expect(world.calls).toEqual([]);
  });

  test("is not sent to an endpoint of a spec, also not from an allowed namespace", async () => {
    await using world = await Route53World.start([weighted("blue", 1)], AMBIENT);
    expect(await codeOf(world.read(withoutKey(world, "default")))).toBe("EK_WEIGHT_ROUTE53_ENDPOINT_DENIED");
    const role = { auth: { assumeRole: { roleARN: "arn:aws:iam::123456789012:role/any" } } };
    expect(await codeOf(world.read(withoutKey(world, "default", role)))).toBe("EK_WEIGHT_ROUTE53_ENDPOINT_DENIED");
    expect(world.calls).toEqual([]);
  });
});

describe("an endpoint that answers too much", () => {
  async function startEndpoint(answer: (response: ServerResponse) => void) {
    const closed: boolean[] = [];
    const seen = { requests: 0, closed };
    const server = createServer((incoming, outgoing) => {
      seen.requests += 1;
      incoming.resume().on("end", () => answer(outgoing));
      outgoing.on("close", () => closed.push(outgoing.writableFinished));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      seen,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  test("in one body is cut off, with a coded error", async () => {
    const part = Buffer.alloc(1 << 20, " ");
    await using endpoint = await startEndpoint((outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/xml" });
      // Far above the limit: the kernel's buffers would take the rest of a smaller one.
      Readable.from(Array(64).fill(part)).pipe(outgoing);
    });
    await using world = await Route53World.start();
    const code = await codeOf(world.read(world.target("blue", { endpoint: endpoint.url })));
    expect(code).toBe("EK_WEIGHT_ROUTE53_UNREACHABLE");
    await eventually(() => expect(endpoint.seen.closed).toEqual(Array(4).fill(false)));
  });

  test("in pages of one name without end is read no further", async () => {
    const record = "<ResourceRecordSet><Name>www.example.com.</Name><Type>A</Type></ResourceRecordSet>";
    const next = "<NextRecordName>www.example.com.</NextRecordName><NextRecordType>A</NextRecordType>";
    await using endpoint = await startEndpoint((outgoing) => {
      const page = `<ResourceRecordSets>${record}</ResourceRecordSets><IsTruncated>true</IsTruncated>${next}`;
      outgoing.writeHead(200, { "content-type": "text/xml" });
      outgoing.end(`<ListResourceRecordSetsResponse>${page}<MaxItems>300</MaxItems></ListResourceRecordSetsResponse>`);
    });
    await using world = await Route53World.start();
    const code = await codeOf(world.read(world.target("blue", { endpoint: endpoint.url })));
    expect(code).toBe("EK_WEIGHT_ROUTE53_REFUSED");
    expect(endpoint.seen.requests).toBe(10);
  });
});
