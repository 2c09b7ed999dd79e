import { describe, expect, test } from "@jest/globals";
import { clusterPath, isLongRunning, kubeRequest } from "./kube-path.ts";

/** Verb, resource with subresource and group, namespace and name; `-` where there is none. */
function read(method: string, target: string): string {
  const request = kubeRequest(method, target);
  if (request === undefined) return "unclear";
  if (request.kind === "path") return `${request.verb} ${request.path}`;
  const { verb, resource, subresource, group, version, namespace, name } = request;
  const kind = [resource, subresource].filter(Boolean).join("/");
  return `${verb} ${kind}.${version}.${group} ${namespace ?? "-"}/${name ?? "-"}`;
}

describe("a request", () => {
  test.each([
    ["GET", "/api/v1/pods?limit=500", "list pods.v1. -/-"],
    ["GET", "/api/v1/namespaces/web/pods", "list pods.v1. web/-"],
    ["GET", "/api/v1/namespaces/web/pods?watch=true", "watch pods.v1. web/-"],
    ["GET", "/api/v1/namespaces/web/pods?watch=0", "list pods.v1. web/-"],
    ["GET", "/api/v1/watch/namespaces/web/pods", "watch pods.v1. web/-"],
    ["GET", "/api/v1/namespaces/web/pods/a%40b", "get pods.v1. web/a@b"],
    ["GET", "/api/v1/namespaces/web/pods/a/log?follow=true", "get pods/log.v1. web/a"],
    ["POST", "/api/v1/namespaces/web/pods/a/exec?command=ls", "create pods/exec.v1. web/a"],
    ["GET", "/api/v1/namespaces/web", "get namespaces.v1. web/web"],
    ["PUT", "/api/v1/namespaces/web/finalize", "update namespaces/finalize.v1. web/web"],
    ["GET", "/api/v1/namespaces", "list namespaces.v1. -/-"],
    ["GET", "/api/v1/nodes/n1/proxy//stats/../x", "get nodes/proxy.v1. -/n1"],
    ["GET", "/api/v1/namespaces/proxy/pods/a/log", "get pods/log.v1. proxy/a"],
    ["GET", "/api/v1/watch/namespaces/proxy/pods", "watch pods.v1. proxy/-"],
    ["POST", "/api/v1/namespaces/web/pods/proxy/exec", "create pods/exec.v1. web/proxy"],
    ["GET", "/api/v1/namespaces/proxy/pods/proxy/proxy/../x", "get pods/proxy.v1. proxy/proxy"],
    ["GET", "/api/v1/namespaces/web/pods/proxy/../b", "unclear"],
    ["GET", "/api/v1/watch/namespaces/proxy/../secrets", "unclear"],
    ["GET", "/apis/apps/v1/deployments/proxy/%2Fstatus", "unclear"],
    ["PATCH", "/apis/apps/v1/namespaces/web/deployments/a/scale", "patch deployments/scale.v1.apps web/a"],
    ["DELETE", "/apis/apps/v1/namespaces/web/deployments", "deletecollection deployments.v1.apps web/-"],
    ["DELETE", "/apis/apps/v1/namespaces/web/deployments/a", "delete deployments.v1.apps web/a"],
    ["GET", "/apis/apps/v1", "get /apis/apps/v1"],
    ["GET", "/apis/apps", "get /apis/apps"],
    ["GET", "/api", "get /api"],
    ["GET", "/version", "get /version"],
    ["GET", "/", "get /"],
    ["GET", "/openapi/v3/apis/apps/v1?hash=A", "get /openapi/v3/apis/apps/v1"],
    ["GET", "/api/v1/namespaces/web/../kube-system/secrets", "unclear"],
    ["GET", "/api/v1/namespaces/web/%2e%2e/kube-system/secrets", "unclear"],
    ["GET", "/api/v1//pods", "unclear"],
    ["GET", "/api/v1/namespaces/a%2fb/pods", "unclear"],
    ["GET", "/api/v1/namespaces/%ff/pods", "unclear"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(read(method, target)).toBe(expected);
  });

  test.each([
    ["/api/v1/pods?watch=1", false, true],
    ["/api/v1/pods", false, false],
    ["/api/v1/namespaces/web/pods/a/log?follow=true", false, true],
    ["/api/v1/namespaces/web/pods/a/log?follow=false", false, false],
    ["/api/v1/namespaces/web/pods/a/log", false, false],
    ["/api/v1/namespaces/web/services/a/proxy/x", false, true],
    ["/version", false, false],
    ["/version", true, true],
    ["/apis/subresources.kubevirt.io/v1/namespaces/web/virtualmachineinstances/a/console", true, true],
    ["/api/v1/pods?watch=1", true, true],
    // The API server ignores `Upgrade` there, so it is no way around the limits.
    ["/api/v1/namespaces/web/pods", true, false],
    ["/apis/apps/v1/namespaces/web/deployments/a", true, false],
  ])("%s (upgrade: %j) lasts as long as the client wants: %j", (target, upgrades, expected) => {
    const request = kubeRequest("GET", target);
    if (request === undefined) throw new Error("unclear");
    expect(isLongRunning(request, target, upgrades)).toBe(expected);
  });
});

test.each([
  ["/clusters/osaka/api/v1/pods?limit=1", { cluster: "osaka", path: "/api/v1/pods?limit=1" }],
  ["/clusters/osaka", { cluster: "osaka", path: "/" }],
  ["/clusters/osaka?x", { cluster: "osaka", path: "/?x" }],
  ["/clusters/osaka/clusters/tokyo/api", { cluster: "osaka", path: "/clusters/tokyo/api" }],
  ["/clusters/", undefined],
  ["/api/clusters/osaka/", undefined],
])("%s names the cluster and path %j", (target, expected) => {
  expect(clusterPath(target)).toEqual(expected);
});
