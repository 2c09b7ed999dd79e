import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Origin } from "../../src/index.ts";

/** An upstream of HTTP/2 that answers by `answer`. */
export async function http2Upstream(answer: (stream: ServerHttp2Stream, head: IncomingHttpHeaders) => void) {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream, head) => {
    stream.on("error", () => undefined);
    answer(stream, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin: Origin = { host: "127.0.0.1", port: (server.address() as AddressInfo).port, protocol: "h2c" };
  return {
    origin,
    sessions,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
