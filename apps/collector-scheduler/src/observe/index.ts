// What benchmarks drive without a process of the service.
export { Catalogue } from "./catalogue.ts";
export type { CatalogueJob } from "./catalogue-job.ts";
export { parseDiscovery } from "./discovery/parse-discovery.ts";
export { KubernetesFeeds } from "./kubernetes/kubernetes-feeds.ts";
export { MetaNames } from "./kubernetes/meta-labels.ts";
