import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "../api-server.ts";
import type { PodStreams } from "./pod-streams.ts";

const users = [
  { name: "admin", groups: ["system:masters"], token: "token" },
  { name: "bob", token: "bob" },
];

let server: ApiServer;
let left: string[];
beforeEach(async () => {
  left = [];
  const podStreams: PodStreams = {
    async *log({ pod, container }, { follow, tailLines, signal }) {
      yield `${pod} ${container ?? "-"} ${tailLines ?? "all"}\n`;
      if (!follow) return;
      await once(signal, "abort");
      left.push(pod);
    },
    exec: async (_, [program = "", ...args], { stdin, stdout, stderr }) => {
      if (program === "cat") for await (const chunk of stdin) stdout.write(chunk);
      else stderr.write(`${program}: ${args.join(" ")}`);
      return program === "cat" ? 0 : 3;
    },
    portForward: (_, port, connection) => {
      connection.write(`port ${port}:`);
      connection.pipe(connection);
    },
    upgrade: ({ pod }, request, socket) => {
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
      socket.write(`${pod} ${request.headers.upgrade ?? ""}`);
    },
  };
  server = await startApiServer({ users, podStreams });
  server.load("{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}");
});
afterEach(() => server.stop());

const pod = (part: string): string => `${server.url}/api/v1/namespaces/default/pods/web/${part}`;
const headers = (token = "token") => ({ authorization: `Bearer ${token}` });

describe("a log", () => {
  test("is what the test's program says, for the container that is named", async () => {
    const response = await fetch(pod("log?container=c&tailLines=5"), { headers: headers() });
    expect([response.status, await response.text()]).toEqual([200, "web c 5\n"]);
  });

  test("that is followed goes on until the client leaves", async () => {
    const leave = new AbortController();
    const response = await fetch(pod("log?follow=true"), { headers: headers(), signal: leave.signal });
    const first = await response.body?.getReader().read();
    expect(Buffer.from((first?.value ?? []) as Uint8Array).toString()).toBe("web - all\n");
    leave.abort();
    await eventually(() => left.length > 0);
    expect(left).toEqual(["web"]);
  });

  test("needs the right to pods/log, and a pod", async () => {
    expect((await fetch(pod("log"), { headers: headers("bob") })).status).toBe(403);
    const gone = pod("log").replace("/web/", "/gone/");
    expect((await fetch(gone, { headers: headers() })).status).toBe(404);
  });
});

/** Sends messages over a WebSocket and gives what came back, by channel, when it is closed or `until` holds. */
async function talk(
  url: string,
  protocol: string,
  messages: readonly Uint8Array<ArrayBuffer>[],
  until: (channels: ReadonlyMap<number, string>) => boolean = () => false,
): Promise<ReadonlyMap<number, string>> {
  const options = { protocols: [protocol], headers: headers() };
  const socket = new WebSocket(url.replace("http", "ws"), options);
  socket.binaryType = "arraybuffer";
  const channels = new Map<number, string>();
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener("close", () => resolve());
    socket.addEventListener("message", ({ data }) => {
      const bytes = Buffer.from(data as ArrayBuffer);
      const [channel = 0] = bytes;
      channels.set(channel, (channels.get(channel) ?? "") + bytes.subarray(1).toString("latin1"));
      if (until(channels)) socket.close();
    });
  });
  await once(socket, "open");
  for (const message of messages) socket.send(message);
  await closed;
  return channels;
}

const message = (channel: number, text: string) => new Uint8Array([channel, ...Buffer.from(text)]);

describe("exec by WebSocket", () => {
  test("runs a command with its standard streams, until standard input is closed", async () => {
    const channels = await talk(pod("exec?command=cat&stdin=true&stdout=true"), "v5.channel.k8s.io", [
      ...[message(0, "one "), message(0, "x".repeat(70_000)), new Uint8Array([255, 0])],
    ]);
    expect(channels.get(1)).toBe(`one ${"x".repeat(70_000)}`);
    expect(JSON.parse(channels.get(3) ?? "")).toMatchObject({ status: "Success" });
  });

  test("says the exit code of a command that failed", async () => {
    const channels = await talk(pod("exec?command=ls&command=-l&stderr=true"), "v5.channel.k8s.io", []);
    expect(channels.get(2)).toBe("ls: -l");
    expect(JSON.parse(channels.get(3) ?? "")).toMatchObject({
      ...{ status: "Failure", reason: "NonZeroExitCode" },
      details: { causes: [{ reason: "ExitCode", message: "3" }] },
    });
  });
});

test("port-forward by WebSocket joins the client to a port", async () => {
  const channels = await talk(
    ...([pod("portforward?ports=8080"), "v4.channel.k8s.io", [message(0, "ping")]] as const),
    (seen) => seen.get(0)?.endsWith("ping") ?? false,
  );
  expect(channels.get(0)).toBe(`${String.fromCharCode(8080 & 255, 8080 >> 8)}port 8080:ping`);
});

/** Asks for another protocol; gives the status and what comes after it. */
function ask(token: string): Promise<{ status: number; text: string }> {
  const options = { method: "POST", headers: { ...headers(token), connection: "Upgrade", upgrade: "SPDY/3.1" } };
  return new Promise((resolve, reject) => {
    const request = httpRequest(pod("exec?command=ls"), options);
    request.on("error", reject);
    request.on("upgrade", (response, socket: Socket, head: Buffer) => {
      const end = (text: string): void => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, text });
      };
      if (head.length > 0) end(head.toString());
      else socket.once("data", (chunk: Buffer) => end(chunk.toString()));
    });
    request.on("response", (response) => {
      response.setEncoding("utf8").once("data", (text: string) => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.end();
  });
}

describe("another protocol", () => {
  test("is left to the test's handler", async () => {
    expect(await ask("token")).toEqual({ status: 101, text: "web SPDY/3.1" });
  });

  test("needs the right to create pods/exec", async () => {
    const { status, text } = await ask("bob");
    expect(status).toBe(403);
    expect((JSON.parse(text) as { message: string }).message).toContain('cannot create resource "pods/exec"');
  });
});
