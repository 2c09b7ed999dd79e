import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { numberAt, textAt } from "../src/bodies/json-text.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start()));
afterAll(async () => world.stop());
afterEach(() => {
  world.troubles.clear();
  world.score({ a: 38, b: 41, c: 40 });
});

let count = 0;
const DIVIDE = "evenkeel.io/divide";
const CLUSTERS = "evenkeel.io/clusters";

async function created(replicas: number, annotations: Record<string, string> = {}): Promise<string> {
  const name = `web-${(count += 1)}`;
  const body = deployment(name, replicas);
  const got = await world.ask("POST", DEPLOYMENTS, JSON.stringify({ ...body, metadata: { name, annotations } }));
  expect(got.status).toBe(201);
  return `${DEPLOYMENTS}/${name}`;
}

const parts = async (path: string) =>
  Object.values(await world.each(path)).map((object) => numberAt(object, ["spec", "replicas"]));
const patch = async (path: string, body: unknown, type = "merge") =>
  world.ask("PATCH", path, JSON.stringify(body), { "content-type": `application/${type}-patch+json` });
const annotated = (annotations: Record<string, string | null>) => ({ metadata: { annotations } });

describe("the policy is that of the object after the change", () => {
  test("a patch that takes it away divides without it", async () => {
    const path = await created(10, { [CLUSTERS]: "a" });
    expect(await parts(path)).toEqual([10, undefined, undefined]);
    await patch(path, { ...annotated({ [CLUSTERS]: null }), spec: { replicas: 9 } });
    expect(await parts(path)).toEqual([3, 3, 3]);
  });
  test("a JSON patch too", async () => {
    const path = await created(9, { [DIVIDE]: "all" });
    expect(await parts(path)).toEqual([9, 9, 9]);
    const remove = [{ op: "remove", path: "/metadata/annotations/evenkeel.io~1divide" }];
    expect(await patch(path, remove, "json")).toMatchObject({ status: 200 });
    expect(await parts(path)).toEqual([3, 3, 3]);
  });
  test("a PUT without it has none", async () => {
    const path = await created(9, { [CLUSTERS]: "a" });
    const body = JSON.stringify(deployment(path.split("/").at(-1) ?? "", 9));
    expect(await world.ask("PUT", path, body)).toMatchObject({ status: 200 });
    expect(await parts(path)).toEqual([3, 3, 3]);
  });
  test("one that changes alone divides the same total anew", async () => {
    const path = await created(10);
    expect(await patch(path, annotated({ [CLUSTERS]: "!b" }))).toMatchObject({ status: 200 });
    expect(await parts(path)).toEqual([5, 0, 5]);
    expect(await patch(path, annotated({ note: "x" }))).toMatchObject({ status: 200 });
    expect(await parts(path)).toEqual([5, 0, 5]);
  });
  test("clusters that are added to divide: all get the number that the others have", async () => {
    const path = await created(5, { [DIVIDE]: "all", [CLUSTERS]: "b" });
    expect(await parts(path)).toEqual([0, 5, undefined]);
    expect(numberAt((await world.ask("GET", path)).json, ["spec", "replicas"])).toBe(5);
    expect(await patch(path, annotated({ [CLUSTERS]: "b,c" }))).toMatchObject({ status: 200 });
    expect(await parts(path)).toEqual([0, 5, 5]);
  });
  test("one that cannot be used is 422, with or without replicas", async () => {
    const path = await created(10);
    expect(await patch(path, annotated({ [DIVIDE]: "fairly" }))).toMatchObject({ status: 422 });
    const add = [{ op: "add", path: "/metadata/annotations/evenkeel.io~1divide", value: "fairly" }];
    expect(await patch(path, add, "json")).toMatchObject({ status: 422 });
    expect(await parts(path)).toEqual([4, 3, 3]);
  });
});

test("a PUT of what a watch of the own cluster shows keeps the total", async () => {
  const path = await created(10);
  const { text } = await world.direct("a", "GET", path);
  expect(await world.ask("PUT", path, text.replace("web:1", "web:2"))).toMatchObject({ status: 200 });
  expect(await parts(path)).toEqual([4, 3, 3]);
  const { b } = await world.each(path);
  expect(textAt(b, ["spec", "template", "spec", "containers", "0", "image"])).toBe("web:2");
  const again = await world.direct("a", "GET", path);
  await world.ask("PUT", path, again.text.replace('"replicas":4', '"replicas":6'));
  expect((await parts(path)).reduce<number>((all, part) => all + (part ?? 0), 0)).toBe(6);
});

test("a JSON patch of a Service is tested against the merged object", async () => {
  const services = "/api/v1/namespaces/default/services";
  const body = { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } };
  await world.ask("POST", services, JSON.stringify(body));
  const change = (value: number) => [
    { op: "test", path: "/spec/ports/0/port", value },
    { op: "replace", path: "/spec/ports/0/port", value: 81 },
  ];
  expect(await patch(`${services}/web`, change(8080), "json")).toMatchObject({ status: 422 });
  expect(await patch(`${services}/web`, change(80), "json")).toMatchObject({ status: 200 });
  const each = Object.values(await world.each(`${services}/web`));
  expect(each.map((object) => numberAt(object, ["spec", "ports", "0", "port"]))).toEqual([81, 81, 81]);
});

describe("a copy for a member that lacks the object, where the own cluster refuses dry runs", () => {
  const lacking = async () => {
    const name = `web-${(count += 1)}`;
    await world.direct("a", "POST", DEPLOYMENTS, JSON.stringify(deployment(name, 4)));
    const trouble = { status: 400, message: "the webhook does not support dry run" };
    world.trouble({ cluster: "a", trouble, hits: ({ isDryRun }) => isDryRun });
    return `${DEPLOYMENTS}/${name}`;
  };
  test("is made of what is held if only the replicas change", async () => {
    const path = await lacking();
    expect(await patch(path, { spec: { replicas: 10 } })).toMatchObject({ status: 200 });
    expect(await parts(path)).toEqual([4, 3, 3]);
    const { b } = await world.each(path);
    expect(textAt(b, ["kind"])).toBe("Deployment");
  });
  test("is refused if more changes", async () => {
    const path = await lacking();
    const got = await patch(path, { spec: { replicas: 10, paused: true } });
    expect([got.status, textAt(got.json, ["message"])]).toEqual([400, expect.stringContaining("replicas alone")]);
    expect(await parts(path)).toEqual([4, undefined, undefined]);
  });
});

test("writes of many wait for the own ClusterScore; reads and the own cluster's writes do not", async () => {
  world.score({ b: 41, c: 40 });
  const body = JSON.stringify(deployment("early", 9));
  const notStarted = { code: "EK_PROXY_NOT_STARTED" };
  await expect(world.ask("POST", DEPLOYMENTS, body)).rejects.toMatchObject(notStarted);
  await expect(world.ask("DELETE", DEPLOYMENTS)).rejects.toMatchObject(notStarted);
  expect(await parts(`${DEPLOYMENTS}/early`)).toEqual([undefined, undefined, undefined]);
  expect(world.isOwn("GET", DEPLOYMENTS)).toBe(true);
  expect(world.isOwn("POST", "/api/v1/namespaces/default/configmaps")).toBe(true);
});

test("an original takes no part in writes and reads", async () => {
  world.score({ a: 38, b: 41, c: 40 }, { c: { original: true, standing: "Unreachable" } });
  const path = await created(8);
  expect(await parts(path)).toEqual([4, 4, undefined]);
  expect(await patch(path, { spec: { replicas: 6 } })).toMatchObject({ status: 200 });
  expect(await world.ask("GET", path)).toMatchObject({ status: 200, warnings: [] });
  expect(await world.ask("DELETE", path)).toMatchObject({ status: 200 });
});
