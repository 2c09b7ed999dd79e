export { buildDashboard, type Built } from "./build/build.ts";
export { chromiumProgram, openBrowser, openPage, type PageOptions, type WatchedPage } from "./testing/browser.ts";
export { RunningService } from "./testing/running-service.ts";
export { TideKeeper } from "./testing/tide-keeper.ts";
