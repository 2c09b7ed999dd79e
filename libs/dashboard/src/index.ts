export { dashboard, dashboardFiles, type DashboardHost } from "./dashboard.ts";
export * as dashboardErrors from "./errors.ts";
export type { PeerDown, PeerState, PeerUp } from "./peers/peer-state.ts";
export { dashboardContradictions, type DashboardSettings, dashboardSettings } from "./settings.ts";
