import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY, until } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

/** More than the gate reads of a body that waits. */
const LENGTH = 3_000_000;

/** Sends an upload and writes down all that comes back. */
async function upload(world: GateWorld): Promise<{ said: string }> {
  const client = { said: "" };
  const socket = connect(await world.put(), HOST);
  socket.setEncoding("latin1").on("data", (text: string) => (client.said += text));
  await once(socket, "connect");
  socket.write(`POST / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\ncontent-length: ${LENGTH}\r\n\r\n`);
  socket.write(Buffer.alloc(LENGTH, "x"));
  await until(() => world.gate.activity(KEY).pending === 1);
  return client;
}

test("an upload that waits gets nothing before its answer where no probe is asked for, since nginx takes 100 for the answer", async () => {
  await using probing = await GateWorld.start({ uploadProbe: 20 });
  await using quiet = await GateWorld.start({ uploadProbe: 0 });
  await using pod = await PodServer.start();
  const [probed, unprobed] = [await upload(probing), await upload(quiet)];
  await until(() => probed.said.split("HTTP/1.1 100 Continue").length > 5);
  expect(unprobed.said).toBe("");
  for (const world of [probing, quiet]) world.gate.endpoints(KEY, [pod.endpoint()]);
  await until(() => [probed, unprobed].every(({ said }) => said.includes("HTTP/1.1 200")));
  expect(unprobed.said).toMatch(/^HTTP\/1\.1 200/);
  expect(pod.arrivals.map(({ bytes }) => bytes)).toEqual([LENGTH, LENGTH]);
});
