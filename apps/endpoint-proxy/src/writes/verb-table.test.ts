import { describe, expect, test } from "@jest/globals";
import { parseApiPath } from "./api-path.ts";
import { ruleOf } from "./verb-table.ts";

const PATHS = {
  Namespace: "/api/v1/namespaces/shop",
  Pod: "/api/v1/namespaces/shop/pods/web-0",
  Service: "/api/v1/namespaces/shop/services/web",
  PersistentVolume: "/api/v1/persistentvolumes/disk",
  PersistentVolumeClaim: "/api/v1/namespaces/shop/persistentvolumeclaims/data",
  Deployment: "/apis/apps/v1/namespaces/shop/deployments/web",
  StatefulSet: "/apis/apps/v1/namespaces/shop/statefulsets/web",
  ConfigMap: "/api/v1/namespaces/shop/configmaps/settings",
  ClusterScore: "/apis/waoendpointproxy.bitmedia.co.jp/v1beta1/namespaces/wao-system/clusterscores/a",
};

const treatment = (method: string, path: string) => {
  const parsed = parseApiPath(path);
  if (parsed === undefined) throw new Error(`${path} is no path of the API`);
  return ruleOf(method, parsed).treatment;
};

describe("every cell of the table", () => {
  const { Namespace, Pod, Service, PersistentVolume, PersistentVolumeClaim, Deployment, StatefulSet } = PATHS;
  test.each([
    ...[Namespace, Service, PersistentVolume, PersistentVolumeClaim].flatMap((path) => [
      ["GET", path, "merge"],
      ["POST", path.slice(0, path.lastIndexOf("/")), "label"],
      ["PUT", path, "label"],
      ["PATCH", path, path === Namespace ? "own" : "copy"],
      ["DELETE", path, "copy"],
      ["HEAD", path, "own"],
    ]),
    ...[Deployment, StatefulSet].flatMap((path) => [
      ["GET", path, "merge"],
      ["POST", path.slice(0, path.lastIndexOf("/")), "split"],
      ["PUT", path, "split"],
      ["PATCH", path, "divide"],
      ["DELETE", path, "copy"],
      ["DELETE", path.slice(0, path.lastIndexOf("/")), "copy"],
      ["HEAD", path, "own"],
      ["GET", `${path}/scale`, "merge"],
      ["PUT", `${path}/scale`, "split"],
      ["PATCH", `${path}/scale`, "divide"],
      ["PUT", `${path}/status`, "own"],
    ]),
    ...["GET", "POST", "PUT", "PATCH", "HEAD"].map((verb) => [verb, Pod, "own"]),
    ["DELETE", Pod, "copy"],
    ["POST", `${Pod}/eviction`, "own"],
    ["GET", `${Pod}/log`, "own"],
    ["PUT", `${Namespace}/finalize`, "own"],
    ...[PATHS.ConfigMap, PATHS.ClusterScore].flatMap((path) =>
      ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].map((verb) => [verb, path, "own"]),
    ),
  ])("%s %s: %s", (method, path, expected) => {
    expect(treatment(method, path)).toBe(expected);
  });
});

test.each(["/api", "/apis", "/apis/apps/v1", "/version", "/openapi/v3", "/api/v1/watch/pods", "/api/v1/%E0%A4%A"])(
  "%s is no collection or object",
  (path) => expect(parseApiPath(path)).toBeUndefined(),
);

test("a namespace in a path is told from a Namespace", () => {
  expect(parseApiPath("/api/v1/namespaces/shop/services?limit=5")).toMatchObject({
    resource: "services",
    namespace: "shop",
    name: undefined,
  });
  expect(parseApiPath("/api/v1/namespaces/shop/status")).toMatchObject({
    resource: "namespaces",
    name: "shop",
  });
});
