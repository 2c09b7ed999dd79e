export { buildTelemetry, telemetryBin } from "./build.ts";
export { askOracle, type OracleAnswer, type OracleQuestion, scrapeConfigOf } from "./relabel-oracle.ts";
export { Collector, type CollectorOptions, type ScrapedTarget } from "./collector.ts";
export { discoveredBy, type DiscoveredTarget, type DiscoverOptions } from "./discovered-by.ts";
