import { describe, expect, test } from "@jest/globals";
import { systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { DiscoveryWorld, jobOf } from "../../test/discovery-world.ts";
import type { CatalogueJob } from "./catalogue-job.ts";
import { Catalogue, type CatalogueParts } from "./catalogue.ts";
import { SIGHTINGS, type TargetQuery } from "./explanation.ts";

async function explain(query: TargetQuery, ...jobs: readonly CatalogueJob[]) {
  const discovery = { clock: systemClock } as CatalogueParts["discovery"];
  const catalogue = new Catalogue({ clock: systemClock, discovery, maxTargets: 1000 });
  catalogue.setJobs(jobs);
  await eventually(() => expect(catalogue.answered).toBe(true));
  const explanation = catalogue.explain(query);
  catalogue.stop();
  return explanation;
}

const statics = (labels: Readonly<Record<string, string>>, ...targets: readonly string[]) => ({
  static_configs: [{ targets, labels }],
});
const keep = (regex: string) => ({ source_labels: ["team"], regex, action: "keep" });

describe("an explanation", () => {
  test("of a target that is kept has its labels after each rule", async () => {
    const rules = [keep("shop"), { source_labels: ["team"], target_label: "group" }];
    const { sightings, found } = await explain(
      { address: "a:80" },
      jobOf("app", statics({ team: "shop" }, "a:80", "b:80"), rules),
    );
    expect(found).toBe(1);
    expect(sightings).toMatchObject([
      { job: "prometheus/app", mechanism: "static", source: "0", outcome: { kind: "kept" } },
    ]);
    expect(sightings[0]?.steps.map(({ labels }) => labels?.get("group"))).toEqual([undefined, "shop"]);
  });

  test("of a target that is dropped names the rule, and the job that came nearest first", async () => {
    const { sightings } = await explain(
      { address: "a:80" },
      jobOf("far", statics({ team: "shop" }, "a:80"), [keep("billing")]),
      jobOf("near", statics({ team: "shop" }, "a:80"), [
        keep("shop"),
        keep("sho."),
        { ...keep("shop"), action: "drop" },
      ]),
    );
    expect(sightings.map(({ job, outcome, steps }) => [job, outcome, steps.length])).toEqual([
      ["prometheus/near", { kind: "dropped", rule: 2 }, 3],
      ["prometheus/far", { kind: "dropped", rule: 0 }, 1],
    ]);
  });

  test("of a target that cannot be scraped names the fault", async () => {
    const rules = [{ target_label: "__address__", replacement: "a/b" }];
    const { sightings } = await explain({ address: "a:80" }, jobOf("app", statics({}, "a:80"), rules));
    expect(sightings).toMatchObject([{ outcome: { kind: "invalid", fault: "BadAddress" } }]);
  });

  test("finds targets by labels before and after relabelling, which must all fit", async () => {
    const job = jobOf("app", statics({ team: "shop" }, "a:80", "b:80"), [{ target_label: "x", replacement: "1" }]);
    expect((await explain({ labels: { team: "shop", x: "1", instance: "b:80" } }, job)).found).toBe(1);
    expect((await explain({ labels: { team: "shop", x: "2" } }, job)).found).toBe(0);
  });

  test("finds the targets of a pod", async () => {
    await using world = await DiscoveryWorld.start();
    await world.addPod("web-0");
    await world.addPod("web-1", { ip: "10.0.0.2" });
    const { catalogue } = world.catalogue();
    catalogue.setJobs([jobOf("pods", { kubernetes_sd_configs: [{ role: "pod" }] })]);
    await eventually(() => expect(catalogue.targets.size).toBe(2));
    expect(catalogue.explain({ pod: "default/web-1" }).sightings.map(({ source }) => source)).toEqual([
      "pod/default/web-1",
    ]);
    expect(catalogue.explain({ pod: "web-1" }).found).toBe(0);
  });

  test("lists a bounded number of many", async () => {
    const many = Array.from({ length: SIGHTINGS + 1 }, (_each, index) => `a:${index + 1}`);
    const { found, sightings } = await explain(
      { labels: { team: "shop" } },
      jobOf("app", statics({ team: "shop" }, ...many)),
    );
    expect([found, sightings.length]).toEqual([SIGHTINGS + 1, SIGHTINGS]);
  });
});
