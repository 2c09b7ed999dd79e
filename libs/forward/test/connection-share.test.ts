import { expect, test } from "@jest/globals";
import { Stage } from "./parts/stage.ts";
import { Wire } from "./parts/wire.ts";

const LIMITS = { connections: 9, share: 2 };
const REFUSED = { route: () => ({ refuse: { status: 404, body: "here" } }) };

test("listeners of one group have one share of the connections together, and leave the rest to others", async () => {
  await using stage = await Stage.start({ router: REFUSED, limits: LIMITS });
  const open = (name: string, group: object) =>
    stage.forwarder.listen({ name, host: "127.0.0.1", port: 0, group }, REFUSED);
  const shop = {};
  const ports = [await open("shop:80", shop), await open("shop:81", shop), await open("pay:80", {})];
  const kept: number[] = [];
  for (const { port } of ports) {
    const clients = await Promise.all(Array.from({ length: 8 }, () => Wire.to(port)));
    const answers = clients.map((client) => client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").until("here"));
    kept.push((await Promise.allSettled(answers)).filter(({ status }) => status === "fulfilled").length);
  }
  // Two thirds of 9, and two thirds of the other 3.
  expect(kept).toEqual([6, 0, 2]);
  expect(await refused(stage)).toEqual({ total: 0, share: 16 });
});

test("connections beyond the limit of all listeners are refused and counted", async () => {
  await using stage = await Stage.start({ router: REFUSED, limits: { connections: 3 } });
  const clients = await Promise.all(Array.from({ length: 5 }, () => Wire.to(stage.port)));
  const answers = clients.map((client) => client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").until("here"));
  await Promise.allSettled(answers);
  expect(await refused(stage)).toEqual({ total: 2, share: 0 });
});

/** Refused connections by the limit that they exceeded. */
async function refused(stage: Stage): Promise<{ total: number; share: number }> {
  // The registry gets the counts within a quarter of a second; `stop` writes them at once.
  await stage.forwarder.stop(AbortSignal.abort());
  const text = await stage.registry.text();
  const count = (limit: string) =>
    Number(
      new RegExp(`^evenkeel_forward_connections_refused_total\\{limit="${limit}"\\} (\\d+)$`, "m").exec(text)?.[1],
    );
  return { total: count("total"), share: count("share") };
}
