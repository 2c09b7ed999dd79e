import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { at, listAt, numberAt, textAt } from "../src/bodies/json-text.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start()));
afterAll(async () => world.stop());
afterEach(() => {
  world.troubles.clear();
  world.score({ a: 38, b: 41, c: 40 });
});

const LABEL = "wao-endpoint-proxy";
let count = 0;
const fresh = () => `web-${(count += 1)}`;

async function parts(name: string): Promise<(number | undefined)[]> {
  return Object.values(await world.each(`${DEPLOYMENTS}/${name}`)).map((object) =>
    numberAt(object, ["spec", "replicas"]),
  );
}

async function created(replicas: number): Promise<string> {
  const name = fresh();
  const { status } = await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name, replicas)));
  expect(status).toBe(201);
  return name;
}

describe("POST of a Deployment", () => {
  test("divides the replicas, labels each copy and answers with the sum", async () => {
    const name = fresh();
    const got = await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name, 10)));
    expect(got.status).toBe(201);
    expect(numberAt(got.json, ["spec", "replicas"])).toBe(10);
    expect(got.warnings).toEqual([`299 - "${name}: 10 replicas: a 4 (38 W), b 3 (41 W), c 3 (40 W)"`]);
    const each = await world.each(`${DEPLOYMENTS}/${name}`);
    expect(await parts(name)).toEqual([4, 3, 3]);
    const labels = Object.values(each).map((object) => [
      textAt(object, ["metadata", "labels", LABEL]),
      textAt(object, ["spec", "template", "metadata", "labels", LABEL]),
      numberAt(object, ["spec", "template", "spec", "containers", "0", "brandNew"]),
      textAt(object, ["metadata", "annotations", "evenkeel.io/replicas"]),
    ]);
    expect(labels).toEqual([
      ["local", "local", 1, "10"],
      ["region-b", "region-b", 1, "10"],
      ["region-c", "region-c", 1, "10"],
    ]);
  });

  test("without replicas is 1 replica in all", async () => {
    const name = fresh();
    await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name)));
    expect(await parts(name)).toEqual([1, 0, 0]);
  });

  test("with generateName has one name everywhere", async () => {
    const body = JSON.stringify({
      ...deployment("x", 3),
      metadata: { generateName: "job-" },
    });
    const got = await world.ask("POST", DEPLOYMENTS, body);
    const name = textAt(got.json, ["metadata", "name"]) ?? "";
    expect(name).toMatch(/^job-[a-z0-9]{5}$/);
    expect(await parts(name)).toEqual([1, 1, 1]);
  });

  test("does not copy owner references and uids to peers", async () => {
    const name = fresh();
    const body = deployment(name, 3);
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "1-2-3" }];
    await world.direct(
      "a",
      "POST",
      "/api/v1/namespaces/default/configmaps",
      JSON.stringify({ metadata: { name: "x" } }),
    );
    Object.assign(body["metadata"] as object, { ownerReferences });
    await world.ask("POST", DEPLOYMENTS, JSON.stringify(body));
    const { b, c } = await world.each(`${DEPLOYMENTS}/${name}`);
    expect([b, c].map((object) => at(object, ["metadata", "ownerReferences"]))).toEqual([undefined, undefined]);
  });

  test("goes on without a member that cannot be reached, and says so", async () => {
    world.trouble({ cluster: "c", trouble: "cut", hits: () => true });
    const name = fresh();
    const got = await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(name, 10)));
    expect(got.status).toBe(201);
    expect(await parts(name)).toEqual([5, 5, undefined]);
    expect(got.warnings.join()).toContain("cluster c cannot be reached");
  });

  test("with a bad policy is 422 before anything is written", async () => {
    const name = fresh();
    const body = deployment(name, 3);
    Object.assign(body["metadata"] as object, {
      annotations: { "evenkeel.io/divide": "fairly" },
    });
    expect(await world.ask("POST", DEPLOYMENTS, JSON.stringify(body))).toMatchObject({ status: 422 });
    expect(await parts(name)).toEqual([undefined, undefined, undefined]);
  });

  test("makes a namespace that a member lacks", async () => {
    await world.direct("a", "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: "shop" } }));
    const path = "/apis/apps/v1/namespaces/shop/deployments";
    expect(await world.ask("POST", path, JSON.stringify(deployment("web", 3)))).toMatchObject({ status: 201 });
    const each = await world.each(`${path}/web`);
    expect(Object.values(each).map((object) => numberAt(object, ["spec", "replicas"]))).toEqual([1, 1, 1]);
  });

  test("as a dry run says where replicas would go and writes nothing", async () => {
    const name = fresh();
    const got = await world.ask("POST", `${DEPLOYMENTS}?dryRun=All`, JSON.stringify(deployment(name, 10)));
    expect(got.status).toBe(201);
    expect(got.warnings).toHaveLength(1);
    expect(await parts(name)).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    ["application/json", '{"spec":\n{', 400, /line 2/],
    ["application/yaml", "spec: [\n", 400, /line/],
    ["application/vnd.kubernetes.protobuf", "abc", 400, /byte 0/],
    ["text/plain", "x", 415, /text\/plain/],
  ])("that is no %s is refused and nothing is sent", async (type, body, status, place) => {
    world.seen.length = 0;
    const got = await world.ask("POST", DEPLOYMENTS, body, {
      "content-type": type,
    });
    expect(got.status).toBe(status);
    expect(textAt(got.json, ["message"])).toMatch(place);
    expect(world.seen).toEqual([]);
  });
});

const TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};
const patch = async (path: string, type: keyof typeof TYPES, body: unknown) =>
  world.ask("PATCH", path, JSON.stringify(body), {
    "content-type": TYPES[type],
  });

describe("a change", () => {
  test.each([
    ["merge", { spec: { replicas: 20 } }],
    ["strategic", { spec: { replicas: 20 } }],
    [
      "json",
      [
        { op: "test", path: "/spec/replicas", value: 10 },
        { op: "replace", path: "/spec/replicas", value: 20 },
      ],
    ],
  ] as const)("of the replicas by a %s patch is divided again, and takes from nobody", async (type, body) => {
    const name = await created(10);
    const got = await patch(`${DEPLOYMENTS}/${name}`, type, body);
    expect(got.status).toBe(200);
    expect(numberAt(got.json, ["spec", "replicas"])).toBe(20);
    expect(await parts(name)).toEqual([7, 6, 7]);
  });

  test("that leaves the total as it is moves nothing, whatever the scores", async () => {
    const name = await created(10);
    world.score({ a: 1000, b: 1, c: 1 });
    await patch(`${DEPLOYMENTS}/${name}`, "merge", { spec: { replicas: 10 } });
    expect(await parts(name)).toEqual([4, 3, 3]);
  });

  test("without replicas is copied as it is", async () => {
    const name = await created(10);
    const got = await patch(`${DEPLOYMENTS}/${name}`, "merge", {
      metadata: { labels: { tier: "front" } },
    });
    expect(numberAt(got.json, ["spec", "replicas"])).toBe(10);
    const each = Object.values(await world.each(`${DEPLOYMENTS}/${name}`));
    expect(each.map((object) => textAt(object, ["metadata", "labels", "tier"]))).toEqual(["front", "front", "front"]);
    expect(await parts(name)).toEqual([4, 3, 3]);
  });

  test("that brings the label along, as rollout undo does, gets each member's value", async () => {
    const name = await created(3);
    const template = at((await world.each(`${DEPLOYMENTS}/${name}`))["a"], ["spec", "template"]);
    await patch(`${DEPLOYMENTS}/${name}`, "json", [{ op: "replace", path: "/spec/template", value: template }]);
    const each = Object.values(await world.each(`${DEPLOYMENTS}/${name}`));
    const labels = each.map((object) => textAt(object, ["spec", "template", "metadata", "labels", LABEL]));
    expect(labels).toEqual(["local", "region-b", "region-c"]);
  });

  test("whose test fails on the sum is 422 and changes nothing", async () => {
    const name = await created(10);
    const body = [
      { op: "test", path: "/spec/replicas", value: 4 },
      { op: "replace", path: "/spec/replicas", value: 1 },
    ];
    expect(await patch(`${DEPLOYMENTS}/${name}`, "json", body)).toMatchObject({
      status: 422,
    });
    expect(await parts(name)).toEqual([4, 3, 3]);
  });

  test("while a member cannot be reached is 503 and changes nothing", async () => {
    const name = await created(10);
    world.trouble({ cluster: "b", trouble: "cut", hits: () => true });
    expect(await patch(`${DEPLOYMENTS}/${name}`, "merge", { spec: { replicas: 1 } })).toMatchObject({ status: 503 });
    expect(await parts(name)).toEqual([4, 3, 3]);
  });

  test("goes on without a member that stays away when its ClusterScore is deleted, as the refusal says", async () => {
    const name = await created(10);
    const path = `${DEPLOYMENTS}/${name}`;
    world.score({ a: 38, b: 41, c: 40 }, { b: { standing: "Unreachable" } });
    const refused = await patch(path, "merge", { spec: { replicas: 12 } });
    expect([refused.status, textAt(refused.json, ["message"])]).toEqual([
      ...[503, expect.stringContaining("delete the ClusterScore")],
    ]);
    world.score({ a: 38, c: 40 });
    expect(await patch(path, "merge", { spec: { replicas: 12 } })).toMatchObject({ status: 200 });
    expect(await parts(name)).toEqual([6, 3, 6]);
  });

  test("of what only a peer has is 404 that says where it is", async () => {
    const name = fresh();
    await world.direct("b", "POST", DEPLOYMENTS, JSON.stringify(deployment(name, 2)));
    const got = await patch(`${DEPLOYMENTS}/${name}`, "merge", {
      spec: { replicas: 1 },
    });
    expect(got.status).toBe(404);
    expect(textAt(got.json, ["message"])).toContain("/clusters/b");
  });

  test("gives a member that lacks the object a copy with its part", async () => {
    const name = fresh();
    await world.direct("a", "POST", DEPLOYMENTS, JSON.stringify(deployment(name, 4)));
    const got = await patch(`${DEPLOYMENTS}/${name}`, "merge", {
      spec: { replicas: 10 },
    });
    expect(numberAt(got.json, ["spec", "replicas"])).toBe(10);
    expect(await parts(name)).toEqual([4, 3, 3]);
    const { b } = await world.each(`${DEPLOYMENTS}/${name}`);
    expect(textAt(b, ["spec", "template", "metadata", "labels", LABEL])).toBe("region-b");
  });
});

describe("the merged object", () => {
  test("is what GET shows, with a version that a PUT brings back", async () => {
    const name = await created(10);
    const path = `${DEPLOYMENTS}/${name}`;
    const got = await world.ask("GET", path);
    expect(numberAt(got.json, ["spec", "replicas"])).toBe(10);
    expect(textAt(got.json, ["metadata", "resourceVersion"])).toMatch(/^10001\d{60}$/);
    const placement = JSON.parse(
      textAt(got.json, ["metadata", "annotations", "evenkeel.io/placement"]) ?? "",
    ) as unknown;
    expect(placement).toMatchObject({
      a: { replicas: 4 },
      b: { replicas: 3 },
      c: { replicas: 3 },
    });
    const wanted = got.text.replace('"replicas":10', '"replicas":11').replace("web:1", "web:2");
    expect(await world.ask("PUT", path, wanted)).toMatchObject({ status: 200 });
    expect(await parts(name)).toEqual([4, 3, 4]);
    const { b } = await world.each(path);
    expect(textAt(b, ["spec", "template", "spec", "containers", "0", "image"])).toBe("web:2");
    expect(at(b, ["metadata", "annotations", "evenkeel.io/placement"])).toBeUndefined();
    expect(await world.ask("PUT", path, wanted)).toMatchObject({ status: 409 });
  });

  test("scales: /scale shows the sum, PUT and PATCH divide", async () => {
    const name = await created(10);
    const path = `${DEPLOYMENTS}/${name}/scale`;
    const scale = await world.ask("GET", path);
    expect(numberAt(scale.json, ["spec", "replicas"])).toBe(10);
    const put = await world.ask("PUT", path, scale.text.replace('"replicas":10', '"replicas":13'));
    expect([put.status, numberAt(put.json, ["spec", "replicas"]), textAt(put.json, ["kind"])]).toEqual([
      200,
      13,
      "Scale",
    ]);
    expect(await world.ask("PUT", path, scale.text)).toMatchObject({
      status: 409,
    });
    const patched = await patch(path, "merge", { spec: { replicas: 3 } });
    expect(numberAt(patched.json, ["spec", "replicas"])).toBe(3);
    expect(await parts(name)).toEqual([1, 1, 1]);
  });
});

describe("server-side apply", () => {
  const apply = async (name: string, body: unknown, force = "") =>
    world.ask("PATCH", `${DEPLOYMENTS}/${name}?fieldManager=kubectl${force}`, JSON.stringify(body), {
      "content-type": TYPES.apply,
    });
  test("creates, divides, and does not reset the replicas if it leaves them out", async () => {
    const name = fresh();
    expect(await apply(name, deployment(name, 10))).toMatchObject({
      status: 201,
    });
    expect(await parts(name)).toEqual([4, 3, 3]);
    expect(await apply(name, deployment(name))).toMatchObject({ status: 200 });
    expect(await parts(name)).toEqual([4, 3, 3]);
  });
  test("without replicas creates 1 replica in all", async () => {
    const name = fresh();
    await apply(name, deployment(name));
    await apply(name, deployment(name));
    expect(await parts(name)).toEqual([1, 0, 0]);
  });
  /** Who owns `spec.replicas` in each cluster. */
  const owners = async (name: string) =>
    Object.values(await world.each(`${DEPLOYMENTS}/${name}`)).map((object) =>
      listAt(object, ["metadata", "managedFields"])
        .filter((entry) => at(entry, ["fieldsV1", "f:spec", "f:replicas"]) !== undefined)
        .map((entry) => textAt(entry, ["manager"])),
    );
  test("that leaves the replicas out hands them to a manager of the proxy, which gives way again", async () => {
    const name = fresh();
    await apply(name, deployment(name, 10));
    expect(await owners(name)).toEqual([["kubectl"], ["kubectl"], ["kubectl"]]);
    const left = await apply(name, deployment(name));
    expect(numberAt(left.json, ["spec", "replicas"])).toBe(10);
    const ours = [["endpoint-proxy"], ["endpoint-proxy"], ["endpoint-proxy"]];
    expect(await owners(name)).toEqual(ours);
    expect(textAt(left.json, ["metadata", "resourceVersion"])).toBe(
      textAt((await world.ask("GET", `${DEPLOYMENTS}/${name}`)).json, ["metadata", "resourceVersion"]),
    );
    // One server would also be applied to directly.
    const bare = JSON.stringify(deployment(name));
    await world.direct("b", "PATCH", `${DEPLOYMENTS}/${name}?fieldManager=kubectl`, bare, TYPES.apply);
    world.seen.length = 0;
    expect(await apply(name, deployment(name))).toMatchObject({ status: 200 });
    expect(world.seen.filter((line) => line.endsWith("PATCH"))).toEqual(["a PATCH", "b PATCH", "c PATCH"]);
    expect([await parts(name), await owners(name)]).toEqual([[4, 3, 3], ours]);
    expect(await apply(name, deployment(name, 13))).toMatchObject({ status: 200 });
    expect((await parts(name)).reduce((sum = 0, part = 0) => sum + part, 0)).toBe(13);
  });
  test("of a manager that never had the replicas is no reason for a conflict", async () => {
    const name = fresh();
    await apply(name, deployment(name, 10));
    const other = JSON.stringify({ ...deployment(name), metadata: { name, labels: { tier: "front" } } });
    const path = `${DEPLOYMENTS}/${name}?fieldManager=other&force=true`;
    await world.ask("PATCH", path, other, { "content-type": TYPES.apply });
    expect(await owners(name)).toEqual([["kubectl"], ["kubectl"], ["kubectl"]]);
    expect(await apply(name, deployment(name, 4), "&force=true")).toMatchObject({ status: 200 });
    expect(
      await world.ask("PATCH", path.replace("&force=true", ""), JSON.stringify(deployment(name, 5)), {
        "content-type": TYPES.apply,
      }),
    ).toMatchObject({ status: 409 });
  });
  test("takes YAML", async () => {
    const name = fresh();
    const yaml = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec:\n  replicas: 4\n  selector: {matchLabels: {app: x}}\n  template:\n    metadata: {labels: {app: x}}\n    spec: {containers: [{name: m, image: i}]}\n`;
    const got = await world.ask("PATCH", `${DEPLOYMENTS}/${name}?fieldManager=k`, yaml, {
      "content-type": TYPES.apply,
    });
    expect(got.status).toBe(201);
    expect(await parts(name)).toEqual([2, 1, 1]);
  });
});

describe("copied kinds", () => {
  const services = "/api/v1/namespaces/default/services";
  const service = (name: string) => ({
    ...{ apiVersion: "v1", kind: "Service", metadata: { name } },
    spec: { clusterIP: "10.0.0.7", ports: [{ port: 80 }] },
  });
  test("a Service is in every cluster, with the label and an address of each cluster's own", async () => {
    const name = fresh();
    const got = await world.ask("POST", services, JSON.stringify(service(name)));
    expect(got.status).toBe(201);
    const each = Object.values(await world.each(`${services}/${name}`));
    expect(each.map((object) => textAt(object, ["metadata", "labels", LABEL]))).toEqual([
      "local",
      "region-b",
      "region-c",
    ]);
    expect(textAt(each[1], ["spec", "clusterIP"])).not.toBe("10.0.0.7");
    await patch(`${services}/${name}`, "merge", { spec: { type: "NodePort" } });
    const after = Object.values(await world.each(`${services}/${name}`));
    expect(after.map((object) => textAt(object, ["spec", "type"]))).toEqual(["NodePort", "NodePort", "NodePort"]);
    const merged = await world.ask("GET", `${services}/${name}`);
    expect(textAt(merged.json, ["metadata", "annotations", "evenkeel.io/placement"])).toBe('{"a":{},"b":{},"c":{}}');
    expect(await world.ask("DELETE", `${services}/${name}`)).toMatchObject({
      status: 200,
    });
    expect(Object.values(await world.each(`${services}/${name}`))).toEqual([undefined, undefined, undefined]);
  });
  test("a Namespace that a peer has already is no error", async () => {
    await world.direct("b", "POST", "/api/v1/namespaces", JSON.stringify({ metadata: { name: "there" } }));
    const body = JSON.stringify({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "there" },
    });
    expect(await world.ask("POST", "/api/v1/namespaces", body)).toMatchObject({
      status: 201,
    });
    expect(await world.ask("POST", "/api/v1/namespaces", body)).toMatchObject({
      status: 409,
    });
    expect(world.isOwn("PATCH", "/api/v1/namespaces/there")).toBe(true);
  });
  test("everything else is left to the own cluster", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect(world.isOwn(method, "/api/v1/namespaces/default/pods/x/eviction")).toBe(true);
      expect(world.isOwn(method, "/apis/rbac.authorization.k8s.io/v1/clusterroles/x")).toBe(true);
    }
    expect(world.isOwn("HEAD", `${DEPLOYMENTS}/x`)).toBe(true);
  });
});

describe("DELETE", () => {
  test("is done in every cluster; one that lacks the object is no failure", async () => {
    const name = fresh();
    for (const cluster of ["a", "c"]) {
      await world.direct(cluster, "POST", DEPLOYMENTS, JSON.stringify(deployment(name, 2)));
    }
    const { a } = await world.each(`${DEPLOYMENTS}/${name}`);
    const uid = textAt(a, ["metadata", "uid"]);
    const options = JSON.stringify({
      kind: "DeleteOptions",
      apiVersion: "v1",
      preconditions: { uid },
    });
    expect(await world.ask("DELETE", `${DEPLOYMENTS}/${name}`, options)).toMatchObject({ status: 200 });
    expect(await parts(name)).toEqual([undefined, undefined, undefined]);
    expect(await world.ask("DELETE", `${DEPLOYMENTS}/${name}`)).toMatchObject({
      status: 404,
    });
  });
  test("of a Pod goes to every cluster", async () => {
    const pod = {
      metadata: { name: "lone" },
      spec: { containers: [{ name: "m", image: "i" }] },
    };
    await world.direct("b", "POST", "/api/v1/namespaces/default/pods", JSON.stringify(pod));
    expect(await world.ask("DELETE", "/api/v1/namespaces/default/pods/lone")).toMatchObject({ status: 200 });
  });
});
