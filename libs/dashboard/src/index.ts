export { dashboard, type DashboardHost } from "./dashboard.ts";
export { dashboardContradictions, type DashboardSettings, dashboardSettings } from "./settings.ts";
