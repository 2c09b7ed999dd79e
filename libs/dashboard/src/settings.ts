import { setting, type SettingsOf } from "@evenkeel/runtime";
import { parsePeers } from "./peers/peer-list.ts";

/** The settings of a service with a dashboard; part of its table: `{ ...runtimeSettings, ...dashboardSettings, … }`. */
export const dashboardSettings = {
  dashboardPeers: setting.list({
    default: "",
    help: "Services that the dashboard shows as tiles: name=url of each one's admin port, such as planner=http://planner:8080",
  }),
  dashboardLinks: setting.list({
    default: "",
    help: "Where a browser reaches a peer's dashboard, as name=url; <its --dashboard-peers url>/dashboard/ unless set",
  }),
  dashboardPeerDeadline: setting.duration({
    default: "2s",
    help: "How long a peer may take to answer before the dashboard shows it as down",
  }),
};

export type DashboardSettings = SettingsOf<typeof dashboardSettings>;

/** Settings that cannot be meant, one line each, saying what to change. */
export function dashboardContradictions({ dashboardPeers, dashboardLinks }: DashboardSettings): readonly string[] {
  return parsePeers(dashboardPeers, dashboardLinks).faults;
}
