import { expect, test } from "@jest/globals";
import { parseRoute, routeLink } from "./route.ts";

test.each([
  ["", { page: "", query: {} }],
  ["#/", { page: "", query: {} }],
  ["#/decisions", { page: "decisions", query: {} }],
  ["#/decisions?text=a%20b&reason=Low", { page: "decisions", query: { text: "a b", reason: "Low" } }],
])("%s leads to %j", (hash, route) => {
  expect(parseRoute(hash)).toEqual(route);
});

test("a link leads to where it says", () => {
  const query = { text: "Tank/ship/a&b", reason: "" };
  expect(parseRoute(routeLink("decisions", query))).toEqual({ page: "decisions", query: { text: "Tank/ship/a&b" } });
});
