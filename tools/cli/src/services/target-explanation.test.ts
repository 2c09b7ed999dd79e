import { describe, expect, test } from "@jest/globals";
import { targetLines, targetQuery } from "./target-explanation.ts";

test.each([
  ["shop/web-0", { pod: "shop/web-0" }],
  ["10.0.0.7:8080", { address: "10.0.0.7:8080" }],
  ["[fd00::1]:80", { address: "[fd00::1]:80" }],
  ["https://example.com/a?b=c", { address: "https://example.com/a?b=c" }],
  ["app=web,zone=a", { labels: ["app=web", "zone=a"] }],
])("--target %s asks for %p", (text, query) => {
  expect(targetQuery(text)).toEqual(query);
});

describe("a target is explained", () => {
  const sighting = { job: "prometheus/pods", mechanism: "kubernetes", source: "pod/shop/web-0" };
  const steps = [
    { rule: 0, set: { app: "web" }, removed: [] },
    { rule: 1, set: {}, removed: [] },
  ];

  test("with the changes of each rule and the one that dropped it", () => {
    const dropped = { rule: 1, text: '{"action":"keep"}' };
    const discovered = { __address__: "10.0.0.7:80", __meta_kubernetes_pod_uid: "u1" };
    const lines = targetLines({
      ...{ message: "No job keeps it", sightingCount: 5, configFaults: ["job a"] },
      sightings: [{ ...sighting, discovered, steps, dropped }],
      troubledSources: [{ job: "prometheus/x", mechanism: "http", fault: "" }],
    });
    expect(lines).toEqual([
      "No job keeps it.",
      expect.stringMatching(/pod\/shop\/web-0 as __address__="10.0.0.7:80"\.$/),
      expect.stringMatching(/relabel_configs\[0\] sets app="web"/),
      expect.stringMatching(/relabel_configs\[1\] drops it: \{"action":"keep"\}/),
      expect.stringMatching(/^4 more/),
      expect.stringMatching(/http of job prometheus\/x/),
      expect.stringMatching(/job a/),
    ]);
  });

  test("with its collector and those before", () => {
    const ownership = {
      ...{ servedTo: ["c-1", "c-0"], since: "2026-01-01T00:00:00Z", message: "It is handed over" },
      earlier: [{ name: "c-0", until: "2026-01-01T00:00:00Z" }],
    };
    const lines = targetLines({
      ...{ message: "scraped", sightingCount: 1 },
      sightings: [{ ...sighting, discovered: {}, steps: [], kept: { address: "10.0.0.7:80", ownership } }],
    });
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/10\.0\.0\.7:80 is scraped by c-1 and c-0 since 2026-01-01T00:00:00Z/),
      expect.stringMatching(/Before: c-0/),
    ]);
  });
});
