export { buildDashboard, type Built } from "./build/build.ts";
export { RunningService } from "./testing/running-service.ts";
export { TideKeeper } from "./testing/tide-keeper.ts";
