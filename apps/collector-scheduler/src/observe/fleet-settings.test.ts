import { expect, test } from "@jest/globals";
import { fleetSettings } from "./fleet-settings.ts";

const jobs = [
  { key: "prometheus/app", name: "app" },
  { key: "prometheus/x/app", name: "app" },
  { key: "prometheus/shop/app", name: "shop/app" },
];

test.each([
  ["app", ["prometheus/app", "prometheus/x/app"]],
  ["prometheus/app", ["prometheus/app"]],
  ["shop/app", ["prometheus/shop/app"]],
])("handOver.jobs names %s by its name or with its receiver", (named, keys) => {
  const spec = { handOver: { jobs: [named] } } as Parameters<typeof fleetSettings>[0];
  expect(fleetSettings(spec, jobs).handOverJobs).toEqual(keys);
});
