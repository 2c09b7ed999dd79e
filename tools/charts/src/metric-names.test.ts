import { expect, test } from "@jest/globals";
import { metricNames } from "./metric-names.ts";

test.each([
  ['sum by (zone) (increase(calls_total{job="a",result=~"x|y"}[15m])) > 0', ["calls_total"]],
  ["min by (pod) (expiry_seconds) - time() < 7 * 86400", ["expiry_seconds"]],
  ["max by (service) (state unless on (instance) leads == 0)", ["state", "leads"]],
  ['absent(up{job="a"} == 1)', ["up"]],
  ["histogram_quantile(0.5, sum by (le) (rate(t_bucket[$__rate_interval])))", ["t_bucket"]],
])("%s asks for %j", (query, names) => {
  expect(metricNames(query)).toEqual(names);
});
