import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasCommand } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { fleetWorld, settled, staticFleet } from "./fleet-world.ts";

const pods = ["sample-collector-0", "sample-collector-1"];
const path = (collector: string) => `/jobs/shop%2Fapp/targets?collector_id=${collector}`;

interface Discovered {
  readonly discoveredLabels: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

// Debian's promtool is of Prometheus 2.42, which knows nothing of target allocators.
const testPromtool = hasCommand("promtool") ? test : test.skip;

testPromtool(
  "an old Prometheus reads the targets of each collector by http_sd, with labels that need no more rules",
  async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 20, { replicas: 2 }));
    const service = await world.ready();
    const owned = await settled(service, path, pods, 20);
    for (const pod of pods) {
      const url = await service.url("targets", path(pod));
      const file = join(world.folder, `${pod}.json`);
      const jobs = [{ job_name: "shop/app", http_sd_configs: [{ url, refresh_interval: "1s" }] }];
      writeFileSync(file, JSON.stringify({ scrape_configs: jobs }));
      const check = ["check", "service-discovery", "--timeout=3s", file, "shop/app"];
      const { stdout } = await promisify(execFile)("promtool", check);
      const found = JSON.parse(stdout) as readonly Discovered[];
      expect(found.map(({ labels }) => labels["instance"]).sort()).toEqual(owned.get(pod)?.toSorted());
      for (const { labels, discoveredLabels } of found) {
        const { __address__: address = "", instance = "", ...rest } = labels;
        expect(instance).toBe(address);
        expect(rest).toMatchObject({ job: "shop/app", team: "shop" });
        expect(discoveredLabels["__scrape_interval__"]).toBe("1s");
      }
    }
  },
  120_000,
);
