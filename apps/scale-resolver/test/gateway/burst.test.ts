import { connect } from "node:net";
import { eventually } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import { IN_SOAK } from "../soak.ts";
import { type Answer, ask, digestOf } from "./ask.ts";
import { GateWorld, HOST, KEY } from "./gate-world.ts";
import { PodServer } from "./pod-server.ts";

const BURST = IN_SOAK ? 2000 : 400;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function bodyOf(index: number): Buffer | undefined {
  return index % 2 === 0 ? undefined : Buffer.alloc(1 + ((index * 37) % 5000), `${index};`);
}

/** Sends a burst of GET and POST and waits until all are held. */
async function burst(world: GateWorld, port: number, count: number): Promise<Promise<Answer>[]> {
  const answers = Array.from({ length: count }, (_, index) => {
    const body = bodyOf(index);
    return ask(port, { id: String(index), path: `/${index}`, ...(body ? { body } : {}) });
  });
  for (const answer of answers) answer.catch(() => undefined);
  await eventually(() => world.gate.activity(KEY).pending === count);
  return answers;
}

async function expectAllOnce(answers: readonly Promise<Answer>[], pods: readonly PodServer[]): Promise<void> {
  const all = await Promise.all(answers);
  expect(all.filter(({ status }) => status !== 200)).toEqual([]);
  const wrong = all.filter(({ body }, index) => body !== `${index} ${digestOf(bodyOf(index) ?? "")}`);
  expect(wrong).toEqual([]);
  const ids = pods.flatMap(({ arrivals }) => arrivals.map(({ id }) => id));
  expect(ids).toHaveLength(answers.length);
  expect(new Set(ids).size).toBe(answers.length);
}

describe("a cold burst", () => {
  test(`of ${BURST} GET and POST loses nothing, sends nothing twice and spoils no body, though the ready pod refuses connections for 300 ms`, async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.make();
    const port = await world.put();
    const answers = await burst(world, port, BURST);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: BURST, inFlight: 0, requests: BURST });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await pause(300);
    // Some may be connecting at this moment.
    const { pending, inFlight } = world.gate.activity(KEY);
    expect(pending + inFlight).toBe(BURST);
    await pod.listen();
    await expectAllOnce(answers, [pod]);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, inFlight: 0, requests: BURST });
    expect(world.firstAnswers).toHaveLength(1);
    await eventually(() => world.accessLog().length === BURST);
    expect(world.accessLog().every(({ outcome }) => outcome === "released")).toBe(true);
  }, 60_000);

  test("goes to the pods that accept it while another refuses connections, and to that one too when it accepts them", async () => {
    await using world = await GateWorld.start();
    await using good = await PodServer.start({ answerAfter: 20 });
    await using late = await PodServer.make({ answerAfter: 20 });
    const port = await world.put(KEY, { hold: { concurrencyPerPod: 10 } });
    const answers = await burst(world, port, 200);
    world.gate.endpoints(KEY, [late.endpoint(), good.endpoint()]);
    await eventually(() => good.arrivals.length > 50);
    await late.listen();
    await expectAllOnce(answers, [good, late]);
    expect(late.arrivals.length).toBeGreaterThan(0);
    expect(good.most).toBeLessThanOrEqual(10);
    expect(late.most).toBeLessThanOrEqual(10);
  });

  test("is not lost when its pod is removed and another one starts", async () => {
    await using world = await GateWorld.start();
    await using gone = await PodServer.make();
    await using pod = await PodServer.start();
    const port = await world.put();
    const answers = await burst(world, port, 200);
    const wakes = world.wakes.length;
    world.gate.endpoints(KEY, [gone.endpoint()]);
    await world.refused();
    world.gate.endpoints(KEY, []);
    expect(world.wakes).toHaveLength(wakes + 1);
    await pause(50);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 200, inFlight: 0 });
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await expectAllOnce(answers, [pod]);
  });

  test("is forwarded in the order of its arrival, also after a refused connection", async () => {
    await using world = await GateWorld.start();
    await using pod = await PodServer.make();
    const port = await world.put(KEY, { hold: { concurrencyPerPod: 1 } });
    const answers: Promise<Answer>[] = [];
    for (let index = 0; index < 60; index++) {
      answers.push(ask(port, { id: String(index) }));
      await eventually(() => world.gate.activity(KEY).pending === index + 1);
    }
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await world.refused();
    await pod.listen();
    await Promise.all(answers);
    expect(pod.arrivals.map(({ id }) => Number(id))).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });
});

describe("without concurrencyPerPod a pod", () => {
  test("gets few requests at once, and more after a moment if others still wait: long streams delay no other request", async () => {
    await using world = await GateWorld.start();
    const sent: string[] = [];
    await using pod = await PodServer.start({
      // A stream that never ends; the others are answered.
      answer: (request, response) => {
        sent.push(request.url ?? "");
        if (request.url === "/stream") response.write("begun");
        else response.end("done");
      },
    });
    const port = await world.put();
    const sockets = Array.from({ length: 100 }, () => {
      const socket = connect(port, HOST, () => socket.write("GET /stream HTTP/1.1\r\nhost: a\r\n\r\n"));
      return socket;
    });
    await eventually(() => world.gate.activity(KEY).pending === 100);
    const quick = Array.from({ length: 20 }, () => ask(port, { path: "/quick" }));
    await eventually(() => world.gate.activity(KEY).pending === 120);
    const began = performance.now();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    await eventually(() => sent.length >= 100);
    expect(sent.slice(0, 100)).not.toContain("/quick");
    const answers = await Promise.all(quick);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(performance.now() - began).toBeGreaterThanOrEqual(240);
    // The queue is empty, so the next is forwarded at once, though a hundred streams are open.
    const next = await ask(port, { path: "/quick" });
    expect(next.status).toBe(200);
    expect(next.headers).not.toHaveProperty("x-evenkeel-cold-start");
    for (const socket of sockets) socket.destroy();
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
  });
});

describe("a request that may have had an effect", () => {
  test("is sent once: if a pod breaks the connection after the first bytes of a body, the client gets 502", async () => {
    await using world = await GateWorld.start();
    let seen = 0;
    await using pod = await PodServer.start({
      answer: (request) => {
        seen += 1;
        request.once("data", () => request.socket.destroy());
      },
    });
    const port = await world.put();
    const answer = ask(port, { body: Buffer.alloc(100_000, "x") });
    await eventually(() => world.gate.activity(KEY).pending === 1);
    world.gate.endpoints(KEY, [pod.endpoint()]);
    const { status, headers } = await answer;
    expect({ status, code: headers["evenkeel-error"], seen }).toEqual({
      status: 502,
      code: "EK_FORWARD_BROKEN",
      seen: 1,
    });
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
  });

  test("without a body is sent again only if its method allows it, and at most twice", async () => {
    await using world = await GateWorld.start();
    const seen: string[] = [];
    await using pod = await PodServer.start({
      answer: (request) => {
        seen.push(request.method ?? "");
        request.socket.destroy();
      },
    });
    const port = await world.put();
    world.gate.endpoints(KEY, [pod.endpoint()]);
    expect((await ask(port, { method: "POST", body: "" })).status).toBe(502);
    expect(seen).toEqual(["POST"]);
    expect((await ask(port)).status).toBe(502);
    expect(seen).toEqual(["POST", "GET", "GET", "GET"]);
    await eventually(() => world.gate.activity(KEY).inFlight === 0);
    expect(world.gate.activity(KEY)).toMatchObject({ pending: 0, requests: 2 });
  });
});
