import { expect, test } from "@jest/globals";
import { endpointPath, queryEscape, readRequest } from "./request-path.ts";

test.each([
  ["/scrape_configs", { asks: { for: "scrape_configs" } }],
  ["/jobs", { asks: { for: "jobs" } }],
  ["/jobs/a%2Fb+c%2B/targets?collector_id=x-0", { asks: { for: "targets", job: "a/b c+", collector: "x-0" } }],
  ["/collectors/shop/s/jobs", { fleet: "shop/s", asks: { for: "jobs" } }],
  ["/collectors/shop/s/jobs/jobs", { fleet: "shop/s", receiver: "jobs", asks: { for: "jobs" } }],
  ["/collectors/shop/s/jobs/jobs/targets", { fleet: "shop/s", asks: { for: "targets", job: "jobs" } }],
  ["/collectors/shop/s/a%2Fb/scrape_configs", { fleet: "shop/s", receiver: "a/b", asks: { for: "scrape_configs" } }],
  ["/collectors/shop/s/x/jobs/j/targets", { fleet: "shop/s", receiver: "x", asks: { for: "targets", job: "j" } }],
])("reads %s", (target, request) => {
  expect(readRequest(target)).toEqual(request);
});

test.each(["/", "", "/jobs/a", "/jobs/a/targets/b", "/jobs/%zz/targets", "/collectors/shop", "/collectors/shop/s"])(
  "knows no path %j",
  (target) => {
    expect(readRequest(target)).toBeUndefined();
  },
);

test("puts a receiver into the path of its endpoint", () => {
  expect(endpointPath("shop", "s", "prometheus")).toBe("/collectors/shop/s");
  expect(endpointPath("shop", "s", "prometheus/a/b")).toBe("/collectors/shop/s/a%2Fb");
});

test("escapes a job as Go does", () => {
  expect(queryEscape("serviceMonitor/a b/+(1)*~")).toBe("serviceMonitor%2Fa+b%2F%2B%281%29%2A~");
});
