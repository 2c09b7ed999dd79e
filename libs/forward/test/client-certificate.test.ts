import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Router } from "../src/index.ts";
import { Authority, type Pair } from "./parts/authority.ts";
import { Stage } from "./parts/stage.ts";
import { Wire } from "./parts/wire.ts";

const GET = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/** Says in the body what the exchange says of its client. */
const router: Router = {
  route: ({ client }) => ({
    refuse: {
      status: 200,
      body: client ? `<${client.certificate.subject} ${client.verified} ${client.fault}>` : "<none>",
    },
  }),
};

let authority: Authority;
let other: Authority;
let pair: Pair;

beforeAll(() => {
  authority = new Authority("first");
  other = new Authority("second");
  pair = authority.issue();
});
afterAll(() => {
  authority[Symbol.dispose]();
  other[Symbol.dispose]();
});

function start(): Promise<Stage> {
  const tls = { ...pair, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
  return Stage.start({ router, tls });
}

async function connect(stage: Stage, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connectTls({ port: stage.port, host: "localhost", ca: authority.cert, ...options });
  await once(socket, "secureConnect");
  return socket;
}

type Ask = (stage: Stage, options: ConnectionOptions) => Promise<string>;

const said = (text: string) => /<(.*)>/.exec(text)?.[1] ?? text;

const overHttp1: Ask = async (stage, options) => {
  const wire = new Wire(await connect(stage, options));
  const text = await wire.send(GET).until(">");
  wire.socket.destroy();
  return said(text);
};

const overHttp2: Ask = async (stage, options) => {
  const socket = await connect(stage, { ...options, ALPNProtocols: ["h2"] });
  const session = connectHttp2(`https://localhost:${stage.port}`, { createConnection: () => socket });
  let text = "";
  for await (const data of session.request({ ":path": "/" })) text += String(data);
  session.destroy();
  return said(text);
};

describe.each([
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
])("a client's certificate over %s", (_protocol, ask) => {
  test("is on the exchange, with the verdict on it", async () => {
    await using stage = await start();
    expect(await ask(stage, {})).toBe("none");
    expect(await ask(stage, authority.issue("alice"))).toBe("CN=alice true undefined");
    expect(await ask(stage, other.issue("mallory"))).toMatch(/^CN=mallory false [A-Z_]*(CERT|VERIFY)[A-Z_]*$/);
    expect(await ask(stage, authority.issue("bob", -1))).toBe("CN=bob false CERT_HAS_EXPIRED");
  });

  test("is not asked for by a listener that does not request it", async () => {
    await using stage = await Stage.start({ router, tls: pair });
    expect(await ask(stage, authority.issue("alice"))).toBe("none");
  });

  test("is verified by renewed authorities, while open connections go on", async () => {
    await using stage = await start();
    const open = new Wire(await connect(stage, authority.issue("alice")));
    await open.send(GET).until("<CN=alice true undefined>");
    stage.forwarder.renew({ ca: other.cert });
    expect(await ask(stage, other.issue("mallory"))).toBe("CN=mallory true undefined");
    expect(await ask(stage, authority.issue("alice"))).toMatch(/^CN=alice false /);
    stage.forwarder.renew({ ca: [authority.cert, other.cert] });
    expect(await ask(stage, authority.issue("alice"))).toBe("CN=alice true undefined");
    open.clear();
    await open.send(GET).until("<CN=alice true undefined>");
    open.socket.destroy();
  });
});

test.each(["TLSv1.2", "TLSv1.3"] as const)("a session of %s is not resumed, so its verdict is new", async (version) => {
  await using stage = await start();
  const options = { ...authority.issue("alice"), minVersion: version, maxVersion: version };
  const socket = await connect(stage, options);
  let session: Buffer | undefined = socket.getSession();
  socket.on("session", (own: Buffer) => (session = own));
  const first = new Wire(socket);
  await first.send(GET).until("<CN=alice true undefined>");
  first.socket.destroy();
  const resume = () => connect(stage, { ...options, ...(session ? { session } : {}) });
  const before = await resume();
  expect(before.isSessionReused()).toBe(false);
  before.destroy();
  stage.forwarder.renew({ ca: other.cert });
  const after = await resume();
  expect(after.isSessionReused()).toBe(false);
  await new Wire(after).send(GET).until(/<CN=alice false /);
  after.destroy();
});

test("the listener names its authorities to clients, before and after a renewal", async () => {
  await using stage = await start();
  const names = async () => {
    const client = promisify(execFile)("openssl", ["s_client", "-connect", `127.0.0.1:${stage.port}`]);
    client.child.stdin?.end();
    const { stdout } = await client;
    return /Acceptable client certificate CA names\n((?:CN ?=.*\n)*)/.exec(stdout)?.[1]?.replaceAll(" ", "");
  };
  expect(await names()).toBe("CN=first\n");
  stage.forwarder.renew({ ca: [authority.cert, other.cert] });
  expect((await names())?.split("\n").toSorted()).toEqual(["", "CN=first", "CN=second"]);
});

test("without authorities no certificate is accepted, not even one of a public authority", async () => {
  const tls = { ...pair, requestCert: true, rejectUnauthorized: false };
  await using stage = await Stage.start({ router, tls });
  expect(await overHttp1(stage, authority.issue("alice"))).toMatch(/^CN=alice false /);
});

test("unusable material is refused with a code, and the previous stays in force", async () => {
  await using stage = await start();
  expect(() => stage.forwarder.renew({ cert: pair.cert, key: other.issue().key })).toThrow(
    expect.objectContaining({ code: "EK_FORWARD_BAD_TLS_MATERIAL" }),
  );
  expect(await overHttp1(stage, authority.issue("alice"))).toBe("CN=alice true undefined");
  stage.forwarder.renew({ ca: other.cert });
  expect(await overHttp1(stage, other.issue("mallory"))).toBe("CN=mallory true undefined");
});
