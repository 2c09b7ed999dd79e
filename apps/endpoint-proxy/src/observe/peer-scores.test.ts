import { expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { StoredClusterScore } from "../cluster-score-resource.ts";
import type { Member } from "../members/member.ts";
import { PeerScores } from "./peer-scores.ts";

const MEMBER: Member = {
  ...{ name: "osaka", own: false, endpoint: "", original: false, label: "osaka", standing: "Ready", score: undefined },
};
const OBJECT = { metadata: { name: "osaka", namespace: "wao-system", uid: "1" } } as StoredClusterScore;

async function told(status: number, answer: unknown) {
  const text = Buffer.from(JSON.stringify(answer));
  const ask = async () => {
    const read = async () => Promise.resolve(text);
    const body = (async function* () {
      yield await Promise.resolve(text);
    })();
    return Promise.resolve({ status, contentType: "application/json", warnings: [], body, read, cancel() {} });
  };
  const peers = new PeerScores({ client: { ask }, member: () => MEMBER, clock: new FakeClock(), deadline: 1000 });
  return peers.ask(OBJECT, new AbortController().signal);
}

const own = (spec: object, status: object) => ({
  items: [{ metadata: { name: "osaka" }, spec: { endpoint: "https://x", owncluster: true, ...spec }, status }],
});

test.each(["a b", "x".repeat(64), "-x", "x\n", "x/y"])(
  "a peer's region %j is not taken, because it is no value of a label",
  async (region) => {
    expect(await told(200, own({ region }, { score: 5 }))).toMatchObject({
      region: null,
      reading: { score: { score: 5 } },
    });
  },
);

test("a peer's region is taken", async () => {
  expect((await told(200, own({ region: "osaka.east" }, { score: 5 }))).region).toBe("osaka.east");
});

test.each([{ score: 1e300 }, { score: 1.5 }, { score: "5" }, { score: 5, free: { cpu: "x" } }, { score: -5 }])(
  "a peer's status %j is no score",
  async (status) => {
    const { reading } = await told(200, own({}, status));
    expect([reading?.score, reading?.fault?.reason]).toEqual([null, "NoScore"]);
  },
);

test("an age that is no age does not make a score fresh, or break the clock", async () => {
  for (const ageSeconds of [-1e6, 2 ** 52]) {
    const { reading } = await told(200, own({}, { score: 5, ageSeconds }));
    const age = reading?.score?.age ?? -1;
    expect(age).toBeGreaterThanOrEqual(0);
    expect(Number.isFinite(new Date(Date.now() - age).getTime())).toBe(true);
  }
});

test("what a peer says of its refusal is cut: it becomes a condition and a line of the log", async () => {
  const { reading } = await told(500, { message: "x".repeat(1_000_000) });
  expect(reading?.fault?.message.length).toBeLessThan(1000);
});
