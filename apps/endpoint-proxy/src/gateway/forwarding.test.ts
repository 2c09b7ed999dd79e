import type { Failure } from "@evenkeel/forward";
import { expect, test } from "@jest/globals";
import { retryForward } from "./forwarding.ts";

const PODS = "/api/v1/namespaces/web/pods";

const origin = { host: "localhost", port: 1, protocol: "http1" } as const;
const failed = (kind: Failure["kind"], tries = 1): Failure => {
  return { kind, tries, origin, forward: { origin }, repeatable: true, error: new Error(kind) };
};

test.each([
  ["GET", PODS, undefined, true],
  ["HEAD", PODS, undefined, true],
  ["DELETE", `${PODS}/a`, undefined, false],
  ["GET", `${PODS}/a/exec?command=ls`, "websocket", false],
  ["GET", `${PODS}/a/exec?command=ls`, undefined, false],
  ["GET", `/clusters/osaka${PODS}/a/attach`, undefined, false],
  ["GET", `/clusters/osaka${PODS}/a/proxy/charge`, undefined, false],
  ["GET", "/apis/subresources.kubevirt.io/v1/namespaces/web/virtualmachineinstances/a/console", "websocket", false],
])("%s %s (upgrade: %s) is sent again after a broken connection: %s", (method, path, upgrade, expected) => {
  const exchange = { method, path, upgrade };
  expect(retryForward(exchange, failed("reset")) !== undefined).toBe(expected);
  expect(retryForward(exchange, failed("connect"))).toEqual({ origin });
  expect(retryForward(exchange, failed("connect", 2))).toBeUndefined();
});
