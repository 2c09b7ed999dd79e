import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { metricNames } from "./metric-names.ts";
import { charts, root } from "./places.ts";
import { serviceCharts } from "./service-charts.ts";

const reference = readFileSync(join(root, "docs/reference/metrics.md"), "utf8");
/** Those of Prometheus itself, and of every process. */
const ELSEWHERE = ["up", "process_resident_memory_bytes", "process_cpu_seconds_total"];

test.each(serviceCharts(charts))("the board and the alerts of %s ask for metrics that there are", (service) => {
  const board = JSON.parse(readFileSync(join(root, `infra/grafana/${service}.json`), "utf8")) as Board;
  const rules = readFileSync(join(root, `infra/prometheus/${service}.rules.yaml`), "utf8");
  const ofBoard = board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const ofAlerts = Array.from(rules.matchAll(/expr: (.*)$/gm), ([, text = ""]) => text);
  expect(ofBoard).not.toEqual([]);
  expect(ofAlerts).toHaveLength(rules.match(/- (alert|record):/g)?.length ?? NaN);
  const names = [...ofBoard, ...ofAlerts].flatMap(metricNames);
  const asked = new Set(names.map((name) => name.replace(/_bucket$/, "")));
  const isKnown = (name: string) => ELSEWHERE.includes(name) || reference.includes(`| \`${name}\` |`);
  expect([...asked].filter((name) => !isKnown(name))).toEqual([]);
});

interface Board {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}
