import { describe, expect, test } from "@jest/globals";
import { isRedirectedAt, redirect, restore, isRedirected, type VirtualServiceDestination } from "./virtual-service.ts";

const resolver = { namespace: "evenkeel-system", name: "scale-resolver", port: 8012 };
const redirection = { namespace: "shop", service: "checkout", resolver };
const away = { host: "scale-resolver.evenkeel-system.svc.cluster.local", port: { number: 8012 } };

function to(host: string, more: object = {}): VirtualServiceDestination {
  return { destination: { host }, ...more };
}

function led(name: string, more: object = {}): VirtualServiceDestination {
  return { ...more, destination: away, headers: { request: { set: { "x-evenkeel-service": name } } } };
}

test.each(["checkout", "checkout.shop", "checkout.shop.svc", "checkout.shop.svc.cluster.local"])(
  "%s is the Service",
  (host) => {
    const { rules, was } = redirect([{ route: [to(host)] }], redirection);
    expect(rules).toEqual([{ route: [led("checkout.shop")] }]);
    expect(was).toEqual([{ service: "checkout", at: [0, 0], was: to(host) }]);
    expect(isRedirected(rules, redirection)).toBe(true);
    expect(restore(rules, was, redirection)).toEqual([{ route: [to(host)] }]);
  },
);

test.each(["cart", "checkout.bank", "checkout.shop.svcs", "checkout.example.com", "my-checkout"])(
  "%s is another",
  (host) => {
    const rules = [{ route: [to(host)] }, {}];
    expect(redirect(rules, redirection)).toEqual({ rules, was: [] });
  },
);

test("weights, matches, timeouts and headers stay, the header has the port, and the subset is restored", () => {
  const headers = { request: { set: { "x-team": "shop" }, remove: ["cookie"] }, response: { add: { a: "b" } } };
  const entry = { destination: { host: "checkout", subset: "v2", port: { number: 8080 } }, weight: 30, headers };
  const rules = [{ match: [{ uri: { prefix: "/" } }], timeout: "3s", route: [to("cart"), entry] }];
  const { rules: switched, was } = redirect(rules, redirection);
  const set = { "x-team": "shop", "x-evenkeel-service": "checkout.shop:8080" };
  expect(switched).toEqual([
    {
      ...rules[0],
      route: [
        to("cart"),
        { ...entry, destination: away, headers: { ...headers, request: { ...headers.request, set } } },
      ],
    },
  ]);
  expect(restore(switched, was, redirection)).toEqual(rules);
});

test("a redirected destination is not redirected again", () => {
  const { rules } = redirect([{ route: [to("checkout")] }], redirection);
  expect(redirect(rules, redirection)).toEqual({ rules, was: [] });
  expect(isRedirectedAt(rules, [0, 0], redirection)).toBe(true);
  expect(isRedirectedAt(rules, [0, 1], redirection)).toBe(false);
  expect(isRedirectedAt(rules, [3, 0], redirection)).toBe(false);
});

describe("a restore", () => {
  test("another Service that sleeps behind the same route stays with the resolver", () => {
    const cart = { ...redirection, service: "cart" };
    const first = redirect([{ route: [to("checkout")] }, { route: [to("cart")] }], redirection);
    const second = redirect(first.rules, cart);
    expect(restore(second.rules, [...first.was, ...second.was], redirection)).toEqual([
      { route: [to("checkout")] },
      { route: [led("cart.shop")] },
    ]);
  });

  test("restores each rule after another client reordered them", () => {
    const subset = (name: string) => ({
      destination: { host: "checkout", subset: name },
      weight: name === "v1" ? 1 : 2,
    });
    const { rules, was } = redirect([{ route: [subset("v1")] }, { route: [subset("v2")] }], redirection);
    expect(restore([...rules].reverse(), was, redirection)).toEqual([
      { route: [subset("v2")] },
      { route: [subset("v1")] },
    ]);
  });

  test("keeps changes of other clients", () => {
    const { rules, was } = redirect([{ route: [to("checkout", { weight: 10 })] }], redirection);
    const changed = [{ route: [{ ...rules[0]?.route?.[0], weight: 90 }, to("elsewhere")] }];
    expect(restore(changed, was, redirection)).toEqual([{ route: [to("checkout", { weight: 90 }), to("elsewhere")] }]);
  });

  test("without anything remembered the Service is found in the header", () => {
    const set = { "x-evenkeel-service": "checkout.shop:8080", "x-team": "shop" };
    const rules = [{ route: [{ destination: away, headers: { request: { set } } }] }];
    expect(restore(rules, [], redirection)).toEqual([
      {
        route: [
          {
            destination: { host: "checkout", port: { number: 8080 } },
            headers: { request: { set: { "x-team": "shop" } } },
          },
        ],
      },
    ]);
  });
});
