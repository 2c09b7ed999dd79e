import { describe, expect, test } from "@jest/globals";
import { proxyFor } from "@evenkeel/runtime";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { answerJson, ScriptedServer } from "../testing/scripted-server.ts";
import { testClient, TestFolder } from "../testing/test-client.ts";

describe("a proxy", () => {
  test.each([
    ["https://api.example.com:6443", "", true],
    ["https://api.example.com:6443", "example.com", false],
    ["https://api.example.com:6443", ".example.com", false],
    ["https://example.com", ".example.com", true],
    ["https://badexample.com", "example.com", true],
    ["https://api.example.com:6443", "example.com:443", true],
    ["https://api.example.com:6443", "other.com, API.example.com:6443", false],
    ["https://10.96.0.1", "10.96.0.0/12", false],
    ["https://10.96.0.1", "10.0.0.0/16,192.168.0.0/99,bad/8", true],
    ["https://10.96.0.1", "10.96.0.1", false],
    ["https://[fd00::1]:6443", "fd00::/8", false],
    ["https://[fd00::1]:6443", "fd00::1", false],
    ["https://10.96.0.1", "*", false],
    ["https://127.0.0.1:6443", "", false],
    ["https://localhost:6443", "", false],
    ["http://10.96.0.1", "", false],
  ])("for %s with NO_PROXY=%j is used: %p", (server, noProxy, used) => {
    const env = { HTTPS_PROXY: "proxy:3128", NO_PROXY: noProxy };
    expect(proxyFor(new URL(server), env)).toBe(used ? "http://proxy:3128" : undefined);
  });

  test("from the kubeconfig is used", async () => {
    using folder = new TestFolder();
    const serving = folder.certificate("serving");
    const version = { major: "1", minor: "36", gitVersion: "v1.36.3" };
    await using server = await ScriptedServer.start((_, response) => answerJson(response, 200, version), serving);
    const asked: (string | undefined)[] = [];
    const sockets: Socket[] = [];
    const proxy = createServer().on("connect", (request, socket: Socket) => {
      asked.push(request.url);
      const onward = connect(server.port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      sockets.push(
        socket.on("error", () => undefined),
        onward.on("error", () => undefined),
      );
      socket.pipe(onward).pipe(socket);
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const cluster = {
      server: server.url,
      "certificate-authority": serving.certFile,
      "proxy-url": `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    };
    const client = testClient(folder.kubeconfig(cluster));
    try {
      expect(await client.version()).toMatchObject({ minor: 36 });
      expect(asked).toEqual([`127.0.0.1:${server.port}`]);
    } finally {
      await client.stop();
      for (const socket of sockets) socket.destroy();
      proxy.close();
    }
  });

  test("of an unsupported kind is refused, without its password in the message", async () => {
    using folder = new TestFolder();
    await using client = testClient(folder.kubeconfig({ server: "https://host", "proxy-url": "socks5://u:p@proxy" }));
    await expect(client.version()).rejects.toMatchObject({
      code: "EK_KUBE_BAD_KUBECONFIG",
      message: expect.stringContaining("socks5://proxy "),
    });
  });
});
