import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { numberAt } from "../src/bodies/json-text.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start({ deadline: 30_000 })));
afterAll(async () => world.stop());

const ROUNDS = 20;
const AT_ONCE = 50;

test("two proxies write one workload 1,000 times at once: the sum is one that was asked for, who lost reads 409", async () => {
  await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment("web", 3)));
  const path = `${DEPLOYMENTS}/web`;
  const proxies = [world.proxyOf("a"), world.proxyOf("b")];
  const told = new Map<number, number>();
  let current = 3;
  for (let round = 0; round < ROUNDS; round += 1) {
    const versions = await Promise.all(proxies.map(async (proxy) => world.ask("GET", path, undefined, {}, proxy)));
    const asked = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_one, index) => {
        const total = 100 + round * AT_ONCE + index;
        const { text } = versions[index % 2] ?? { text: "" };
        const wanted = text.replace(/"replicas":\d+(?=[,}])/, `"replicas":${total}`);
        const { status } = await world.ask("PUT", path, wanted, {}, proxies[index % 2]);
        told.set(status, (told.get(status) ?? 0) + 1);
        return { total, status };
      }),
    );
    const parts = Object.values(await world.each(path)).map((object) => numberAt(object, ["spec", "replicas"]) ?? 0);
    const sum = parts.reduce((all, part) => all + part, 0);
    const done = asked.filter(({ status }) => status === 200).map(({ total }) => total);
    expect([current, ...done]).toContain(sum);
    if (done.length > 0) expect(done).toContain(sum);
    current = sum;
  }
  expect([...told.keys()].toSorted()).toEqual([200, 409]);
  expect([...told.values()].reduce((all, one) => all + one, 0)).toBe(ROUNDS * AT_ONCE);
}, 120_000);
