import { describe, expect, test } from "@jest/globals";
import { parsePrometheusTrigger } from "./elasti-service.ts";

describe("parsePrometheusTrigger", () => {
  test("reads the threshold from text, as the original's manifests have it", () => {
    const metadata = {
      query: "sum(rate(requests[1m]))",
      serverAddress: "http://prometheus:9090",
      threshold: "0.5",
      uptimeFilter: 'job="prometheus"',
      headers: { "X-Scope-OrgID": "a" },
    };
    expect(parsePrometheusTrigger(metadata)).toEqual({ ok: true, value: { ...metadata, threshold: 0.5 } });
  });

  test("fills in the original's filter, and a threshold that calls nothing idle", () => {
    expect(parsePrometheusTrigger({ query: "up" })).toEqual({
      ok: true,
      value: { query: "up", threshold: 0, uptimeFilter: 'container="prometheus"' },
    });
  });

  test.each([
    [undefined, "(object): "],
    ["none", "(object): "],
    [{}, "query: "],
    [{ query: "up", threshold: "a few" }, "threshold: "],
    [{ query: "up", threshold: "" }, "threshold: "],
    [{ query: "up", threshold: "1e999" }, "threshold: "],
    [{ query: "up", headers: { a: 1 } }, "headers.a: "],
  ])("refuses %j", (metadata, opening) => {
    const parsed = parsePrometheusTrigger(metadata);
    expect(parsed).toMatchObject({ ok: false });
    expect(parsed.ok || parsed.errors[0]?.startsWith(opening)).toBe(true);
  });
});
