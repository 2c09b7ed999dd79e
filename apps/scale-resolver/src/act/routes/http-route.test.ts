import { describe, expect, test } from "@jest/globals";
import { type BackendRef, isLedAt, leadAway, leadBack, leadsToResolver } from "./http-route.ts";

const resolver = { namespace: "evenkeel-system", name: "scale-resolver", port: 8012 };
const detour = { namespace: "shop", service: "checkout", resolver };

function led(value: string, more: Partial<BackendRef> = {}): BackendRef {
  const set = [{ name: "x-evenkeel-service", value }];
  return {
    name: "scale-resolver",
    namespace: "evenkeel-system",
    port: 8012,
    filters: [{ type: "RequestHeaderModifier", requestHeaderModifier: { set } }],
    ...more,
  };
}

test.each<BackendRef>([
  { name: "checkout", port: 80 },
  { name: "checkout", namespace: "shop", port: 80 },
  { group: "", kind: "Service", name: "checkout", port: 80, weight: 3 },
])("%j is the Service, and comes back as it was", (backend) => {
  const rules = [{ backendRefs: [backend] }];
  const { rules: switched, was } = leadAway(rules, detour);
  expect(switched).toEqual([{ backendRefs: [{ ...backend, ...led("checkout.shop:80") }] }]);
  expect(leadsToResolver(switched, detour)).toBe(true);
  expect(isLedAt(switched, [0, 0], detour)).toBe(true);
  expect(leadAway(switched, detour)).toEqual({ rules: switched, was: [] });
  expect(leadBack(switched, was, detour)).toEqual(rules);
});

test.each<BackendRef>([
  { name: "cart", port: 80 },
  { name: "checkout", namespace: "bank", port: 80 },
  { name: "checkout", group: "example.com", kind: "Bucket" },
])("%j is another", (backend) => {
  const rules = [{ backendRefs: [backend] }, { filters: [{ type: "RequestRedirect" }] }];
  expect(leadAway(rules, detour)).toEqual({ rules, was: [] });
});

test("a resolver of the same namespace is named without it", () => {
  const near = { ...detour, resolver: { ...resolver, namespace: "shop" } };
  const { rules } = leadAway([{ backendRefs: [{ name: "checkout", port: 80 }] }], near);
  expect(rules[0]?.backendRefs?.[0]).not.toHaveProperty("namespace");
  expect(leadsToResolver(rules, near)).toBe(true);
});

test("a backend with a filter of headers gets no second one, since a gateway would refuse it", () => {
  const modifier = { set: [{ name: "x-team", value: "shop" }], remove: ["cookie"] };
  const filters = [{ type: "RequestHeaderModifier", requestHeaderModifier: modifier }, { type: "RequestMirror" }];
  const rules = [{ backendRefs: [{ name: "checkout", port: 80, filters }] }];
  const { rules: switched, was } = leadAway(rules, detour);
  const set = [...modifier.set, { name: "x-evenkeel-service", value: "checkout.shop:80" }];
  expect(switched[0]?.backendRefs?.[0]?.filters).toEqual([
    { type: "RequestHeaderModifier", requestHeaderModifier: { ...modifier, set } },
    { type: "RequestMirror" },
  ]);
  expect(leadBack(switched, was, detour)).toEqual(rules);
  expect(leadBack(switched, [], detour)).toEqual(rules);
});

describe("on the way back", () => {
  test("another Service that sleeps behind the same route stays with the resolver", () => {
    const cart = { ...detour, service: "cart" };
    const first = leadAway(
      [
        {
          backendRefs: [
            { name: "checkout", port: 80 },
            { name: "cart", port: 81 },
          ],
        },
      ],
      detour,
    );
    const second = leadAway(first.rules, cart);
    expect(leadBack(second.rules, [...first.was, ...second.was], detour)).toEqual([
      { backendRefs: [{ name: "checkout", port: 80 }, led("cart.shop:81")] },
    ]);
  });

  test("what somebody has changed meanwhile keeps his change, and what he took for his own stays", () => {
    const { rules, was } = leadAway([{ backendRefs: [{ name: "checkout", port: 80, weight: 1 }] }], detour);
    const own = { name: "scale-resolver", namespace: "evenkeel-system", port: 8012 };
    const changed = [{ backendRefs: [{ ...(rules[0]?.backendRefs?.[0] as BackendRef), weight: 9 }, own] }];
    expect(leadBack(changed, was, detour)).toEqual([{ backendRefs: [{ name: "checkout", port: 80, weight: 9 }, own] }]);
  });
});
