import { expect, test } from "@jest/globals";
import { readConfiguration } from "./collector-configuration.ts";
import { podEnvironment } from "./environment.ts";
import { servedText } from "./served-text.ts";

const read = (job: object) =>
  readConfiguration(
    JSON.stringify({ receivers: { prometheus: { config: { scrape_configs: [{ job_name: "a", ...job }] } } } }),
    podEnvironment({}),
  );

test("characters that a YAML reader refuses are escaped, and the others stay", () => {
  const text = servedText({ a: "\u007f\u0085\u0090\ufeff\uffff\u0000 é 😀" });
  expect(text).toBe('{"a":"\\u007f\u0085\\u0090\\ufeff\\uffff\\u0000 é 😀"}');
  expect(JSON.parse(text)).toEqual({ a: "\u007f\u0085\u0090\ufeff\uffff\u0000 é 😀" });
});

test.each([
  ["a name that collectors cannot read as a key", { job_name: "x".repeat(1001) }, "job_name"],
  ["a name that YAML merges", { job_name: "<<" }, "job_name"],
  ["a parameter whose name is too long", { params: { ["x".repeat(1001)]: ["1"] } }, /^params/],
  ["half of a character", { metrics_path: "/\ud800" }, "metrics_path"],
  ["a size of more than 64 bits", { body_size_limit: "8EB" }, "body_size_limit"],
  ["a size with too many digits", { body_size_limit: "99999999999999999999B" }, "body_size_limit"],
  ["a proxy with a control character", { proxy_url: "http://a\u0001b" }, "proxy_url"],
  ["a proxy with a port that is none", { proxy_url: "http://a:b" }, "proxy_url"],
  ["a proxy with half an escape", { proxy_url: "http://a/%2" }, "proxy_url"],
])("a job with %s is refused, because it would take all others along", (_, job, field) => {
  const { jobs, faults } = read(job);
  expect(jobs).toEqual([]);
  expect(faults[0]?.field).toMatch(typeof field === "string" ? new RegExp(`^${field}$`) : field);
});

test.each([
  { body_size_limit: "7.9EB" },
  { body_size_limit: "1KiB5B" },
  { proxy_url: "http://[::1]:80/a%20b?q=%" },
  { proxy_url: "proxy" },
  { params: { a: ["\u0001"] } },
])("a job with %j is served", (job) => {
  expect(read(job).faults).toEqual([]);
});
