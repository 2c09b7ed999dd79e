import { once } from "node:events";
import { connect } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

/** More than the gate reads of a body that waits. */
const LENGTH = 3_000_000;

/** Sends an upload and records the response. */
async function upload(port: number, header = "x: y"): Promise<{ said: string }> {
  const client = { said: "" };
  const socket = connect(port, HOST);
  socket.setEncoding("latin1").on("data", (text: string) => (client.said += text));
  await once(socket, "connect");
  socket.write(
    `POST / HTTP/1.1\r\nhost: a.test\r\n${header}\r\nconnection: close\r\ncontent-length: ${LENGTH}\r\n\r\n`,
  );
  socket.write(Buffer.alloc(LENGTH, "x"));
  return client;
}

test("a waiting upload gets nothing before its answer with --upload-probe=0s, nor through a proxy, since nginx takes 100 for the answer", async () => {
  await using probing = await GateWorld.start({ uploadProbe: 20 });
  await using quiet = await GateWorld.start({ uploadProbe: 0 });
  await using pod = await PodServer.start();
  const port = await probing.put();
  const probed = await upload(port);
  const proxied = ["X-Forwarded-For: 10.0.0.7", "forwarded: for=10.0.0.7", "Via: 1.1 edge", "X-Real-IP: 10.0.0.7"];
  const spared = [
    await upload(await quiet.put()),
    ...(await Promise.all(proxied.map((header) => upload(port, header)))),
  ];
  await eventually(() => probing.gate.activity(KEY).pending === 5 && quiet.gate.activity(KEY).pending === 1);
  await eventually(() => probed.said.split("HTTP/1.1 100 Continue").length > 5);
  expect(spared.map(({ said }) => said)).toEqual(spared.map(() => ""));
  for (const world of [probing, quiet]) world.gate.endpoints(KEY, [pod.endpoint()]);
  await eventually(() => [probed, ...spared].every(({ said }) => said.includes("HTTP/1.1 200")));
  for (const { said } of spared) expect(said).toMatch(/^HTTP\/1\.1 200/);
  expect(pod.arrivals.map(({ bytes }) => bytes)).toEqual([probed, ...spared].map(() => LENGTH));
});
