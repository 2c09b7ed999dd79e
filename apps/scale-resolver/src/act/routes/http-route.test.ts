import { describe, expect, test } from "@jest/globals";
import type { HttpBackendRef } from "@evenkeel/kube";
import { isRedirectedAt, redirect, restore, isRedirected } from "./http-route.ts";

const resolver = { namespace: "evenkeel-system", name: "scale-resolver", port: 8012 };
const redirection = { namespace: "shop", service: "checkout", resolver };

function led(value: string, more: Partial<HttpBackendRef> = {}): HttpBackendRef {
  const set = [{ name: "x-evenkeel-service", value }];
  return {
    name: "scale-resolver",
    namespace: "evenkeel-system",
    port: 8012,
    filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set } }],
    ...more,
  };
}

test.each<HttpBackendRef>([
  { name: "checkout", port: 80 },
  { name: "checkout", namespace: "shop", port: 80 },
  { group: "", kind: "Service", name: "checkout", port: 80, weight: 3 },
])("%j is the Service, and is restored unchanged", (backend) => {
  const rules = [{ backendRefs: [backend] }];
  const { rules: switched, was } = redirect(rules, redirection);
  expect(switched).toEqual([{ backendRefs: [{ ...backend, ...led("checkout.shop:80") }] }]);
  expect(isRedirected(switched, redirection)).toBe(true);
  expect(isRedirectedAt(switched, [0, 0], redirection)).toBe(true);
  expect(redirect(switched, redirection)).toEqual({ rules: switched, was: [] });
  expect(restore(switched, was, redirection)).toEqual(rules);
});

test.each<HttpBackendRef>([
  { name: "cart", port: 80 },
  { name: "checkout", namespace: "bank", port: 80 },
  { name: "checkout", group: "example.com", kind: "Bucket" },
])("%j is another", (backend) => {
  const rules = [{ backendRefs: [backend] }, { filters: [{ type: "RequestRedirect" }] }];
  expect(redirect(rules, redirection)).toEqual({ rules, was: [] });
});

test("a resolver of the same namespace is named without it", () => {
  const near = { ...redirection, resolver: { ...resolver, namespace: "shop" } };
  const { rules } = redirect([{ backendRefs: [{ name: "checkout", port: 80 }] }], near);
  expect(rules[0]?.backendRefs?.[0]).not.toHaveProperty("namespace");
  expect(isRedirected(rules, near)).toBe(true);
});

test("a backend with a filter of headers gets no second one, since a gateway would refuse it", () => {
  const modifier = { set: [{ name: "x-team", value: "shop" }], remove: ["cookie"] };
  const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: modifier }, { type: "RequestMirror" }];
  const rules = [{ backendRefs: [{ name: "checkout", port: 80, filters }] }];
  const { rules: switched, was } = redirect(rules, redirection);
  const set = [...modifier.set, { name: "x-evenkeel-service", value: "checkout.shop:80" }];
  expect(switched[0]?.backendRefs?.[0]?.filters).toEqual([
    { type: "RequestHeaderModifier", requestHeaderModifier: { ...modifier, set } },
    { type: "RequestMirror" },
  ]);
  expect(restore(switched, was, redirection)).toEqual(rules);
  expect(restore(switched, [], redirection)).toEqual(rules);
});

describe("a restore", () => {
  test("another Service that sleeps behind the same route stays with the resolver", () => {
    const cart = { ...redirection, service: "cart" };
    const first = redirect(
      [
        {
          backendRefs: [
            { name: "checkout", port: 80 },
            { name: "cart", port: 81 },
          ],
        },
      ],
      redirection,
    );
    const second = redirect(first.rules, cart);
    expect(restore(second.rules, [...first.was, ...second.was], redirection)).toEqual([
      { backendRefs: [{ name: "checkout", port: 80 }, led("cart.shop:81")] },
    ]);
  });

  test("keeps changes and headers of other clients", () => {
    const { rules, was } = redirect([{ backendRefs: [{ name: "checkout", port: 80, weight: 1 }] }], redirection);
    const own = { name: "scale-resolver", namespace: "evenkeel-system", port: 8012 };
    const changed = [{ backendRefs: [{ ...(rules[0]?.backendRefs?.[0] as HttpBackendRef), weight: 9 }, own] }];
    expect(restore(changed, was, redirection)).toEqual([
      { backendRefs: [{ name: "checkout", port: 80, weight: 9 }, own] },
    ]);
  });
});
