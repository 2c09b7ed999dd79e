// Measures discovery and relabelling in a process of its own, and prints the figures as one line of JSON.
import type { Catalogue } from "@evenkeel/collector-scheduler/observe";
import { residentBytes } from "../forward/process-usage.ts";
import { world as targets } from "../relabelling/world.ts";
import { median } from "../result.ts";
import { catalogueJob, CatalogueWorld } from "./catalogue-world.ts";

/** CPU seconds unless the name says otherwise. */
export interface CatalogueFigures {
  readonly fullPass: number;
  readonly churn: number;
  readonly kept: number;
  readonly residentBytes: number;
  readonly fewServices: number;
  readonly manyServices: number;
  readonly watchesOfFew: number;
  readonly watchesOfMany: number;
}

const FILES = 100;
const ROUNDS = 3;

/** Groups of one file: a hundredth of all targets, each with 42 labels. */
function groupsOf(file: number, round: number): readonly object[] {
  const fill = (text: string, g: number, t: number) => text.replaceAll("{g}", `${g}`).replaceAll("{t}", `${t}`);
  const each = targets.groups / FILES;
  return Array.from({ length: each * targets.targets }, (_, index) => {
    const [g, t] = [file * each + Math.floor(index / targets.targets), index % targets.targets];
    const { __address__: address = "", ...rest } = targets.targetLabels;
    const labels: Record<string, string> = { __meta_kubernetes_pod_name: `cart-${g}-${t}-${round}` };
    for (const [name, text] of Object.entries({ ...targets.groupLabels, ...rest })) labels[name] ??= fill(text, g, t);
    return { targets: [fill(address, g, t)], labels };
  });
}

/** From files to targets: all of them, then a hundredth that has changed. */
async function passes(): Promise<Pick<CatalogueFigures, "fullPass" | "churn" | "kept" | "residentBytes">> {
  await using world = await CatalogueWorld.start();
  const names = Array.from({ length: FILES }, (_, file) => `file-${file}`);
  for (const [file, name] of names.entries()) world.prepare(name, groupsOf(file, 0))();
  const blocks = names.map((name) => ({ files: [world.fileOf(name)], refresh_interval: "1d" }));
  const discovery = { file_sd_configs: blocks };
  const fullPasses: number[] = [];
  let catalogue: Catalogue | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh = (catalogue = world.catalogue());
    const job = catalogueJob("shop", discovery, targets.jobs["ServiceMonitor"] ?? [], world.folder);
    fullPasses.push(
      await world.cost(
        () => fresh.setJobs([job]),
        () => fresh.answered,
      ),
    );
  }
  const kept = catalogue?.targets.size ?? NaN;
  const churns: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const put = world.prepare("file-7", groupsOf(7, round));
    let added = 0;
    const end = catalogue?.onChange((changes) => (added += changes.added.length));
    churns.push(await world.cost(put, () => added >= kept / FILES));
    end?.();
  }
  return { fullPass: median(fullPasses), churn: median(churns), kept, residentBytes: residentBytes(process.pid) };
}

const SERVICES = { role: "service" };

/** Jobs that each keep two Services by name. */
function serviceJobs(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const regex = `service-${2 * index}|service-${2 * index + 1}`;
    const rule = { action: "keep", source_labels: ["__meta_kubernetes_service_name"], regex } as const;
    return catalogueJob(`job-${index}`, { kubernetes_sd_configs: [SERVICES] }, [rule]);
  });
}

async function jobs(services: number): Promise<{ seconds: number; few: number; many: number }> {
  await using world = await CatalogueWorld.start();
  const { feeds, api } = world;
  const catalogue = world.catalogue();
  for (let index = 0; index < services; index += 1) {
    const metadata = { name: `service-${index}`, namespace: "default" };
    const spec = { type: "ClusterIP", clusterIP: "None", ports: [{ port: 80, protocol: "TCP" }] };
    api.load(JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec }));
  }
  await world.cost(
    () => catalogue.setJobs(serviceJobs(10)),
    () => catalogue.answered && catalogue.targets.size === 20,
  );
  const few = feeds.watches;
  const all = serviceJobs(1000);
  const seconds = await world.cost(
    () => catalogue.setJobs(all),
    () => catalogue.answered && catalogue.targets.size === 2000,
  );
  return { seconds, few, many: feeds.watches };
}

const pass = await passes();
console.error("full passes and churn");
const few = [await jobs(2000), await jobs(2000)];
console.error("1,000 jobs over 2,000 Services");
const many = [await jobs(20_000), await jobs(20_000)];
console.error("1,000 jobs over 20,000 Services");
const figures: CatalogueFigures = {
  ...pass,
  fewServices: median(few.map(({ seconds }) => seconds)),
  manyServices: median(many.map(({ seconds }) => seconds)),
  watchesOfFew: many[0]?.few ?? NaN,
  watchesOfMany: many[0]?.many ?? NaN,
};
console.log(JSON.stringify(figures));
