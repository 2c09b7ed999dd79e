import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { at, type Json, textAt } from "../src/bodies/json-text.ts";
import { DEPLOYMENTS, deployment, ThreeClusters } from "./three-clusters.ts";

let world: ThreeClusters;
beforeAll(async () => void (world = await ThreeClusters.start()));
afterAll(async () => world.stop());

const CORE = "/api/v1/namespaces/default";
let count = 0;
const fresh = () => `shop-${(count += 1)}`;

/** A Deployment that names a ConfigMap, two Secrets and a ServiceAccount, all called `needs`. */
function needing(name: string, needs: string, annotations: Record<string, string> = {}): string {
  const object = deployment(name, 3) as { metadata: object; spec: { template: { spec: object } } };
  Object.assign(object.metadata, { annotations });
  Object.assign(object.spec.template.spec, {
    ...{ serviceAccountName: needs, imagePullSecrets: [{ name: needs }] },
    volumes: [
      { name: "a", configMap: { name: needs } },
      { name: "b", secret: { secretName: "maybe", optional: true } },
    ],
  });
  return JSON.stringify(object);
}

async function madeInOwn(needs: string): Promise<void> {
  const metadata = { name: needs };
  await world.ask("POST", `${CORE}/configmaps`, JSON.stringify({ metadata, data: { a: "1" } }));
  await world.ask("POST", `${CORE}/secrets`, JSON.stringify({ metadata, data: { a: "MQ==" } }));
  await world.ask("POST", `${CORE}/serviceaccounts`, JSON.stringify({ metadata }));
}

async function values(path: string, field: readonly string[]): Promise<(string | undefined)[]> {
  const each: (Json | undefined)[] = Object.values(await world.each(`${CORE}/${path}`));
  return each.map((object) => textAt(object, field));
}

describe("what a pod template names", () => {
  test("is named in a Warning for each chosen cluster that lacks it, and is not copied", async () => {
    const [name, needs] = [fresh(), fresh()];
    await madeInOwn(needs);
    const { warnings } = await world.ask("POST", DEPLOYMENTS, needing(name, needs));
    const text = warnings.join("\n");
    for (const cluster of ["b", "c"]) {
      expect(text).toContain(`cluster ${cluster} lacks ServiceAccount ${needs}, Secret ${needs}, ConfigMap ${needs}`);
    }
    expect(text).not.toContain("cluster a lacks");
    expect(text).not.toContain("maybe");
    expect(await values(`configmaps/${needs}`, ["data", "a"])).toEqual(["1", undefined, undefined]);
  });

  test("is copied, renewed and deleted with the last workload that needs it, if the workload asks for it", async () => {
    const [one, other, needs] = [fresh(), fresh(), fresh()];
    await madeInOwn(needs);
    const follow = { "evenkeel.io/follow": "true" };
    for (const name of [one, other]) {
      const made = await world.ask("POST", DEPLOYMENTS, needing(name, needs, follow));
      expect([made.status, made.warnings.filter((text) => text.includes("lacks"))]).toEqual([201, []]);
    }
    for (const kind of ["configmaps", "secrets", "serviceaccounts"]) {
      const marks = await values(`${kind}/${needs}`, ["metadata", "annotations", "evenkeel.io/copy-of"]);
      expect(marks).toEqual([undefined, "a", "a"]);
    }
    const patch = JSON.stringify({ data: { a: "2" } });
    const merge = { "content-type": "application/merge-patch+json" };
    const patched = await world.ask("PATCH", `${CORE}/configmaps/${needs}`, patch, merge);
    expect(patched.status).toBe(200);
    expect(await values(`configmaps/${needs}`, ["data", "a"])).toEqual(["2", "2", "2"]);

    await world.ask("DELETE", `${DEPLOYMENTS}/${one}`);
    expect(await values(`secrets/${needs}`, ["metadata", "name"])).toEqual([needs, needs, needs]);
    await world.ask("DELETE", `${DEPLOYMENTS}/${other}`);
    for (const kind of ["configmaps", "secrets", "serviceaccounts"]) {
      expect(await values(`${kind}/${needs}`, ["metadata", "name"])).toEqual([needs, undefined, undefined]);
    }
  });

  test("that a changed template no longer names stays while pods may need it, and is deleted with the workload", async () => {
    const [name, before, after] = [fresh(), fresh(), fresh()];
    await madeInOwn(before);
    await madeInOwn(after);
    const follow = { "evenkeel.io/follow": "true" };
    await world.ask("POST", DEPLOYMENTS, needing(name, before, follow));
    const { a } = await world.each(`${DEPLOYMENTS}/${name}`);
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid: textAt(a, ["metadata", "uid"]) };
    // As the controller keeps the former template.
    const former = { ...(a as object), kind: "ReplicaSet", metadata: { name: `${name}-1`, ownerReferences: [owner] } };
    const replicaSets = "/apis/apps/v1/namespaces/default/replicasets";
    expect((await world.direct("a", "POST", replicaSets, JSON.stringify(former))).status).toBe(201);
    expect((await world.ask("PUT", `${DEPLOYMENTS}/${name}`, needing(name, after, follow))).status).toBe(200);
    for (const needs of [before, after]) {
      expect(await values(`configmaps/${needs}`, ["data", "a"])).toEqual(["1", "1", "1"]);
    }
    expect((await world.ask("DELETE", `${DEPLOYMENTS}/${name}`)).status).toBe(200);
    for (const needs of [before, after]) {
      expect(await values(`configmaps/${needs}`, ["data", "a"])).toEqual(["1", undefined, undefined]);
    }
  });

  test("is left alone if it is a namesake of other origin or a token", async () => {
    const [name, needs] = [fresh(), fresh()];
    await madeInOwn(needs);
    const theirs = JSON.stringify({ metadata: { name: needs }, data: { a: "theirs" } });
    await world.direct("b", "POST", `${CORE}/configmaps`, theirs);
    const token = { metadata: { name: `${needs}-token` }, type: "kubernetes.io/service-account-token" };
    await world.direct("a", "POST", `${CORE}/secrets`, JSON.stringify(token));
    const body = needing(name, needs, { "evenkeel.io/follow": "true" });
    await world.ask("POST", DEPLOYMENTS, body.replace('"maybe","optional":true', `"${needs}-token"`));
    expect(await values(`configmaps/${needs}`, ["data", "a"])).toEqual(["1", "theirs", "1"]);
    expect(await values(`secrets/${needs}-token`, ["metadata", "name"])).toEqual([
      `${needs}-token`,
      ...[undefined, undefined],
    ]);
    await world.ask("PATCH", `${CORE}/configmaps/${needs}`, JSON.stringify({ data: { a: "2" } }), {
      "content-type": "application/merge-patch+json",
    });
    await world.ask("DELETE", `${DEPLOYMENTS}/${name}`);
    expect(await values(`configmaps/${needs}`, ["data", "a"])).toEqual(["2", "theirs", undefined]);
  });
});

test("a bound claim is copied as one that is not bound, and a copy that a peer has bound is left as it is", async () => {
  const name = fresh();
  const claims = `${CORE}/persistentvolumeclaims`;
  const claim = (annotations: Record<string, string>, volumeName: string) => ({
    metadata: { name, annotations },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName },
  });
  const bound = { "pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": "node-1" };
  await world.direct("a", "POST", claims, JSON.stringify(claim(bound, "pv-a")));
  const object = deployment(name, 3) as { metadata: object; spec: { template: { spec: object } } };
  Object.assign(object.metadata, { annotations: { "evenkeel.io/follow": "true" } });
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: name } }];
  Object.assign(object.spec.template.spec, { volumes });
  expect((await world.ask("POST", DEPLOYMENTS, JSON.stringify(object))).status).toBe(201);
  const { b } = await world.each(`${claims}/${name}`);
  expect(at(b, ["metadata", "annotations"])).toEqual({ "evenkeel.io/copy-of": "a" });
  expect(at(b, ["spec", "volumeName"])).toBeUndefined();

  const filled = { metadata: { annotations: bound, finalizers: ["example.com/used"] }, spec: { volumeName: "pv-b" } };
  const merge = "application/merge-patch+json";
  const before = await world.direct("b", "PATCH", `${claims}/${name}`, JSON.stringify(filled), merge);
  const scaled = await world.ask("PATCH", `${DEPLOYMENTS}/${name}`, '{"spec":{"replicas":6}}', {
    "content-type": merge,
  });
  expect([scaled.status, scaled.warnings.filter((text) => text.includes(name) && text.includes("Claim"))]).toEqual([
    ...[200, []],
  ]);
  expect((await world.each(`${claims}/${name}`))["b"]).toEqual(before.json);
});

test("evenkeel.io/spread copies an object to all clusters, renews and deletes the copies", async () => {
  const name = fresh();
  const path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const budget = {
    ...{ apiVersion: "policy/v1", kind: "PodDisruptionBudget" },
    metadata: { name, annotations: { "evenkeel.io/spread": "true" } },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "one" } } },
  };
  const made = await world.ask("POST", path, JSON.stringify(budget));
  const apps = async () =>
    Object.values(await world.each(`${path}/${name}`)).map((object) =>
      textAt(object, ["spec", "selector", "matchLabels", "app"]),
    );
  expect([made.status, await apps()]).toEqual([201, ["one", "one", "one"]]);
  await world.ask("PUT", `${path}/${name}`, JSON.stringify(budget).replace("one", "two"));
  expect(await apps()).toEqual(["two", "two", "two"]);
  await world.ask("DELETE", `${path}/${name}`);
  expect(await apps()).toEqual([undefined, undefined, undefined]);
});

test("a change of replicas that an autoscaler may undo names the autoscaler and its cluster", async () => {
  const [name, other] = [fresh(), fresh()];
  for (const one of [name, other]) await world.ask("POST", DEPLOYMENTS, JSON.stringify(deployment(one, 3)));
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name };
  const scaler = { metadata: { name: `${name}-load` }, spec: { scaleTargetRef, maxReplicas: 9 } };
  const path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  expect((await world.direct("b", "POST", path, JSON.stringify(scaler))).status).toBe(201);
  const merge = { "content-type": "application/merge-patch+json" };
  const told = async (one: string, body: object) => {
    const { warnings } = await world.ask("PATCH", `${DEPLOYMENTS}/${one}`, JSON.stringify(body), merge);
    return warnings.filter((text) => text.includes("HorizontalPodAutoscaler"));
  };
  expect(await told(name, { metadata: { labels: { tier: "front" } } })).toEqual([]);
  expect(await told(other, { spec: { replicas: 5 } })).toEqual([]);
  const [warning, ...more] = await told(name, { spec: { replicas: 5 } });
  expect(warning).toContain(`HorizontalPodAutoscaler ${name}-load of cluster b`);
  expect(more).toEqual([]);
});
