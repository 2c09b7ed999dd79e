import { describe, expect, test } from "@jest/globals";
import { getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { configMaps } from "../objects/resource-types.ts";
import { answerJson, ScriptedServer, statusBody } from "../testing/scripted-server.ts";
import { testClient, TestFolder } from "../testing/test-client.ts";

describe("a stream", () => {
  test("is read as it arrives, and outlives the deadline of its headers", async () => {
    await using server = await ScriptedServer.start((_, response) => {
      response.write("one\n");
      setTimeout(() => response.end("two\n"), 150);
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    await client.namespace();
    const { status, body } = await client.stream({ path: "/api/v1/namespaces/n/pods/p/log", deadline: 100 });
    expect([status, await text(body)]).toEqual([200, "one\ntwo\n"]);
  });

  test("without response headers ends at its deadline", async () => {
    await using server = await ScriptedServer.start(() => undefined);
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    await client.namespace();
    await expect(client.stream({ path: "/logs", deadline: 50 })).rejects.toMatchObject({
      code: "EK_KUBE_TIMEOUT",
      message: expect.stringMatching(`^GET /logs at ${server.url}: .*50 ms`),
    });
  });

  test("that is refused fails with the reason", async () => {
    await using server = await ScriptedServer.start((_, response) =>
      answerJson(response, 403, statusBody(403, "Forbidden", "no")),
    );
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    await expect(client.stream({ path: "/logs" })).rejects.toMatchObject({ code: "EK_KUBE_FORBIDDEN" });
  });

  test("leaves no listener on a signal that lives longer", async () => {
    await using server = await ScriptedServer.start((_, response) => response.end());
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const { signal } = new AbortController();
    for (let round = 0; round < 5; round++) {
      for await (const event of client.resource(configMaps).watch({ signal })) expect(event).toBeUndefined();
      await client
        .resource(configMaps)
        .list({ signal })
        .catch(() => undefined);
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("an upgrade", () => {
  async function upgrading(answer: (socket: Socket) => void): Promise<{ url: string } & AsyncDisposable> {
    const server = createServer((_, response) => answerJson(response, 404, statusBody(404, "NotFound", "no pod")));
    const sockets = new Set<Socket>();
    server.on("upgrade", (request, socket: Socket) => {
      sockets.add(socket);
      expect(request.headers.upgrade).toBe("SPDY/3.1");
      answer(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const dispose = async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    };
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: dispose };
  }

  test("returns the raw connection, in both directions", async () => {
    await using server = await upgrading((socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n");
      socket.pipe(socket);
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    const connection = await client.upgrade({ method: "POST", path: "/exec" }, "SPDY/3.1");
    connection.write("ping");
    const [echo] = (await once(connection, "data")) as [Buffer];
    expect(echo.toString()).toBe("ping");
    connection.destroy();
  });

  test("that is refused fails with the reason", async () => {
    const body = JSON.stringify(statusBody(403, "Forbidden", "no exec"));
    await using server = await upgrading((socket) => {
      socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    });
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: server.url }));
    await expect(client.upgrade({ path: "/exec" }, "SPDY/3.1")).rejects.toMatchObject({
      code: "EK_KUBE_FORBIDDEN",
      message: expect.stringMatching(`^GET /exec at ${server.url}: .*no exec$`),
    });
  });
});
