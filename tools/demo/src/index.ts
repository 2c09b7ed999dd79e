export { fleet, harbourKubeconfig, startHarbour } from "./harbour.ts";
export { replicasAt, tideLevel } from "./tide.ts";
