import { describe, expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import type { Catalogue } from "./catalogue.ts";
import { DiscoveryWorld, jobOf } from "../../test/discovery-world.ts";

const addresses = ({ targets }: Catalogue): readonly string[] =>
  [...targets.values()].map(({ address }) => address).sort();

describe("a catalogue", () => {
  test("has the targets of static configs, with what a collector and a decision need", async () => {
    await using world = await DiscoveryWorld.start();
    const { catalogue, told } = world.catalogue();
    expect(catalogue.answered).toBe(true);
    catalogue.setJobs([jobOf("app", { static_configs: [{ targets: ["a:80"], labels: { team: "shop" } }] })]);
    expect(catalogue.answered).toBe(false);
    await eventually(() => expect(catalogue.answered).toBe(true));
    const [target] = catalogue.targets.values();
    expect(target).toMatchObject({ job: "prometheus/app", address: "a:80", interval: 30 });
    expect(target?.key).toBe("prometheus/app http://a:80/metrics");
    expect(target?.labels.get("team")).toBe("shop");
    expect(told).toEqual([{ added: [target], removed: [] }]);
  });

  test("follows pods and tells each change once", async () => {
    await using world = await DiscoveryWorld.start();
    await world.addPod("web-0", { annotations: { "evenkeel.io/expected-series": "1200" } });
    const { catalogue, told } = world.catalogue();
    catalogue.setJobs([jobOf("pods", { kubernetes_sd_configs: [{ role: "pod" }] })]);
    await eventually(() => expect(addresses(catalogue)).toEqual(["10.0.0.1:80"]));
    expect([...catalogue.targets.values()]).toMatchObject([{ node: "node-a", expectedSeries: 1200 }]);
    told.length = 0;
    await world.addPod("web-1", { ip: "10.0.0.2" });
    await eventually(() => expect(addresses(catalogue)).toEqual(["10.0.0.1:80", "10.0.0.2:80"]));
    await world.removePod("web-0");
    await eventually(() => expect(addresses(catalogue)).toEqual(["10.0.0.2:80"]));
    expect(
      told.map(({ added, removed }) => [added.map((each) => each.address), removed.map((each) => each.address)]),
    ).toEqual([
      [["10.0.0.2:80"], []],
      [[], ["10.0.0.1:80"]],
    ]);
  });
});
