import { createHash } from "node:crypto";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const MIB = 2 ** 20;
const soak = process.env["SOAK"] === "1";
/**
 * Longer than the default limits of node:http for a request and of undici for a head or a part of a body: 300 s each.
 */
const LONG = 310_000;

/** An upload that is written as fast as it is taken. */
class Upload {
  readonly asked: ClientRequest;
  readonly answered: Promise<[IncomingMessage]>;
  readonly #hash = createHash("sha1");
  readonly #size: number;
  sent = 0;

  constructor(port: number, size: number) {
    this.#size = size;
    this.asked = request({ host: HOST, port, method: "PUT", path: "/big", headers: { "content-length": size } });
    this.answered = once(this.asked, "response") as Promise<[IncomingMessage]>;
    this.answered.catch(() => undefined);
    this.asked.flushHeaders();
  }

  /** Writes up to `end`, by default everything; resolves when the data was accepted. */
  async write(end = this.#size): Promise<void> {
    const part = Buffer.alloc(MIB);
    while (this.sent < end) {
      part.fill(this.sent / MIB);
      this.#hash.update(part);
      this.sent += part.length;
      // A part that was written must not change.
      if (!this.asked.write(Buffer.from(part))) await once(this.asked, "drain");
    }
    if (this.sent === this.#size) this.asked.end();
  }

  digest(): string {
    return this.#hash.digest("hex");
  }

  async status(): Promise<number | undefined> {
    const [answer] = await this.answered;
    answer.resume();
    return answer.statusCode;
  }
}

async function stands(taken: () => number): Promise<void> {
  let still = -1;
  await eventually(async () => {
    if (still === taken()) return true;
    still = taken();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return false;
  });
}

describe("an upload that is held for longer than 300 s by the gate's clock", () => {
  async function held(world: GateWorld, timeout: number) {
    const port = await world.put(KEY, { hold: { timeout } });
    const upload = new Upload(port, 32 * MIB);
    await eventually(() => world.gate.activity(KEY).pending === 1);
    const writing = upload.write();
    writing.catch(() => undefined);
    await stands(() => upload.sent);
    return { upload, writing };
  }

  test("still waits, unread, and is then sent whole", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    const { upload, writing } = await held(world, 600_000);
    await using pod = await PodServer.start();
    const before = upload.sent;
    for (let second = 0; second < LONG / 1000; second++) await clock.advance(1000);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 1, inFlight: 0 });
    expect(upload.sent).toBe(before);
    expect(before).toBeLessThan(16 * MIB);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await writing;
    expect(await upload.status()).toBe(200);
    expect(pod.arrivals.map(({ bytes, digest }) => [bytes, digest])).toEqual([[32 * MIB, upload.digest()]]);
    upload.asked.destroy();
  });

  test("is refused if that is longer than spec.hold.timeout, and not before", async () => {
    const clock = new FakeClock();
    await using world = await GateWorld.start({}, clock);
    const { upload } = await held(world, 305_000);
    await clock.advance(304_000);
    expect(world.gate.activity(KEY).pending).toBe(1);
    await clock.advance(2_000);
    expect(await upload.status()).toBe(503);
    expect(world.gate.activity(KEY).pending).toBe(0);
    upload.asked.destroy();
  });
});

/** In real time, because node:http and undici do not use the fake clock. All at once: it takes five minutes. */
(soak ? describe : describe.skip)("for 310 s of real time (SOAK=1)", () => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, LONG));
  const late = LONG + 60_000;

  test.concurrent(
    "an upload is held, and then sent whole",
    async () => {
      await using world = await GateWorld.start();
      await using pod = await PodServer.start();
      const port = await world.put(KEY, { hold: { timeout: 600_000 } });
      const upload = new Upload(port, 64 * MIB);
      await eventually(() => world.gate.activity(KEY).pending === 1);
      const writing = upload.write();
      await pause();
      expect(world.gate.activity(KEY).pending).toBe(1);
      expect(upload.sent).toBeLessThan(32 * MIB);
      world.gate.endpoints(KEY, [pod.endpoint()]);
      await writing;
      expect(await upload.status()).toBe(200);
      expect(pod.arrivals.map(({ digest }) => digest)).toEqual([upload.digest()]);
      upload.asked.destroy();
    },
    late,
  );

  test.concurrent(
    "an upload pauses half way to its pod, and then continues",
    async () => {
      await using world = await GateWorld.start();
      await using pod = await PodServer.start();
      const port = await world.put();
      world.gate.endpoints(KEY, [pod.endpoint()]);
      const upload = new Upload(port, 16 * MIB);
      await upload.write(8 * MIB);
      await eventually(() => pod.begun === 1);
      await pause();
      await upload.write();
      expect(await upload.status()).toBe(200);
      expect(pod.arrivals.map(({ digest }) => digest)).toEqual([upload.digest()]);
      upload.asked.destroy();
    },
    late,
  );

  test.concurrent.each(["GET", "POST"])(
    "a pod takes for the head of its answer to a %s, and again for its body",
    async (method) => {
      await using world = await GateWorld.start();
      await using pod = await PodServer.start({
        answer: (asked, response) => {
          asked.resume();
          setTimeout(() => {
            response.write("first ");
            setTimeout(() => response.end("last"), LONG);
          }, LONG);
        },
      });
      const port = await world.put();
      world.gate.endpoints(KEY, [pod.endpoint()]);
      const asked = request({ host: HOST, port, method, agent: false }).end(method === "POST" ? "body" : undefined);
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      let text = "";
      for await (const data of answer) text += String(data);
      expect([answer.statusCode, text]).toEqual([200, "first last"]);
    },
    2 * LONG + 60_000,
  );
});
