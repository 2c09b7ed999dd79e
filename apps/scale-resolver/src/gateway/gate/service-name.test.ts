import { expect, test } from "@jest/globals";
import { parseServiceName } from "./service-name.ts";

test.each([
  ["checkout.shop", { service: "checkout", namespace: "shop", port: undefined }],
  ["checkout.shop:8080", { service: "checkout", namespace: "shop", port: 8080 }],
  ["Checkout.SHOP.svc", { service: "checkout", namespace: "shop", port: undefined }],
  ["checkout.shop.svc.cluster.local:80/*", { service: "checkout", namespace: "shop", port: 80 }],
  ["checkout.shop.svc.cluster.local./*", { service: "checkout", namespace: "shop", port: undefined }],
  ["checkout", undefined],
  ["", undefined],
  [".shop", undefined],
  ["a..b", undefined],
  ["[::1]:80", undefined],
  ["a_b.shop", undefined],
  ["checkout.shop:port", undefined],
  [`${"a".repeat(300)}.shop`, undefined],
])("%j names %j", (text, expected) => {
  expect(parseServiceName(text)).toEqual(expected);
});
