import { expect, test } from "@jest/globals";
import { parseDiscovery } from "../observe/discovery/parse-discovery.ts";
import { readConfiguration, rewritten } from "./collector-configuration.ts";
import { podEnvironment } from "./environment.ts";

const text = `
receivers:
  prometheus:
    config:
      global: {external_labels: {version: 1.10, build: 0012, big: 12345678901234567890, on: True}}
      scrape_configs:
        - job_name: 1.10
          honor_labels: True
          sample_limit: 1e3
          static_configs: [{targets: ["a:80"], labels: {version: 1.10, mode: 0644, 2.50: x, rest: "\${X}"}}]
          relabel_configs: [{target_label: v, replacement: 1.10}]
          dns_sd_configs: [{names: [a], type: A, port: 9_0}]
processors: {batch: {timeout: 1.50, n: 0x1F, plain: 1.5}}
`;
const X = { spec: { containers: [{ name: "aoc2", env: [{ name: "X", value: "3.10" }] }] } };

test("a number in a field of text is served as it is written, and a field of numbers takes its value", () => {
  const { jobs, faults } = readConfiguration(text.replace("9_0", "9e1"), podEnvironment(X));
  expect(faults).toEqual([]);
  const [job] = jobs;
  expect(job?.key).toBe("prometheus/1.10");
  expect(job?.served).toEqual({ job_name: "1.10", honor_labels: true, sample_limit: 1000 });
  expect(job?.scrape.rules).toEqual([{ target_label: "v", replacement: "1.10" }]);
  const labels = { version: "1.10", mode: "0644", "2.50": "x", rest: "3.10" };
  expect(parseDiscovery(job?.discovery ?? {}, { namespace: "a", scope: "all", files: undefined })).toMatchObject({
    blocks: [{ groups: [{ labels }] }, { port: 90 }],
  });
});

test("what collectors load has every number as it was written", () => {
  const configuration = readConfiguration(text, podEnvironment(X));
  const written = rewritten(configuration, { endpoint: () => "http://ta", refresh: 1000 });
  for (const part of ["version: 1.10\n", "build: 0012\n", "big: 12345678901234567890\n", "on: True\n"])
    expect(written).toContain(part);
  for (const part of ["timeout: 1.50\n", "n: 0x1F\n", "plain: 1.5\n"]) expect(written).toContain(part);
});
