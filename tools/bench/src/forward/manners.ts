import { once } from "node:events";
import { createServer, get, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Running } from "./programs.ts";

const STREAMS = 20;
/** How long an upstream may take to learn that its client left, in milliseconds. */
const PATIENCE = 3000;

/** What a proxy does besides passing bytes on. */
export interface Manners {
  /** Of 20 upstreams in the middle of an endless answer, how many were closed when their client disconnected. */
  readonly closed: number;
  /** Whether the client got the answer's trailers. */
  readonly trailers: boolean;
  /** Whether SPDY/3.1 could be spoken after an upgrade, as kubectl exec does. */
  readonly upgrades: boolean;
}

/** Starts a proxy by `start` in front of an upstream that puts it to the test. */
export async function mannersOf(start: (upstream: string) => Promise<Running>): Promise<Manners> {
  let streaming = 0;
  const upstream = createServer((question, answer) => {
    if (question.url === "/large") {
      streaming += 1;
      const timer = setInterval(() => answer.write("more\n"), 20);
      answer.on("close", () => {
        clearInterval(timer);
        streaming -= 1;
      });
    } else {
      answer.writeHead(200, { trailer: "x-trailer" });
      answer.write("body");
      answer.addTrailers({ "x-trailer": "there" });
      answer.end();
    }
  });
  upstream.on("upgrade", (question, socket) => {
    socket.on("error", () => undefined);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${question.headers.upgrade}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  await once(upstream.listen(0, "127.0.0.1"), "listening");
  const proxy = await start(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
  const url = `http://127.0.0.1:${proxy.port}`;
  try {
    const trailers = await trailersThrough(url);
    const upgrades = await upgradeThrough(url);
    await Promise.all(Array.from({ length: STREAMS }, () => leaveStream(url)));
    const began = performance.now();
    while (streaming > 0 && performance.now() - began < PATIENCE)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return { closed: STREAMS - streaming, trailers, upgrades };
  } finally {
    proxy.stop();
    upstream.close();
    upstream.closeAllConnections();
  }
}

/** Leaves after the first part of an endless answer. */
async function leaveStream(url: string): Promise<void> {
  const asked = get(`${url}/large`, { agent: false });
  asked.on("error", () => undefined);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.on("error", () => undefined);
  await once(answer, "data");
  asked.destroy();
}

async function trailersThrough(url: string): Promise<boolean> {
  const asked = get(`${url}/small`, { agent: false, headers: { te: "trailers" } });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.trailers["x-trailer"] === "there";
}

function upgradeThrough(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1" };
    const asked = request(`${url}/small`, { method: "POST", agent: false, headers });
    asked.on("upgrade", (answer, socket) => {
      socket.on("error", () => resolve(false));
      socket.on("close", () => resolve(false));
      socket.on("data", (data: Buffer) => {
        resolve(answer.statusCode === 101 && data.toString() === "echo");
        socket.destroy();
      });
      socket.write("echo");
    });
    asked.on("response", (answer) => {
      answer.destroy();
      resolve(false);
    });
    asked.on("error", () => resolve(false));
    asked.setTimeout(PATIENCE, () => {
      asked.destroy();
      resolve(false);
    });
    asked.end();
  });
}
