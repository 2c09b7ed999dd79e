export { chromiumProgram, openBrowser, openPage, type PageOptions, type WatchedPage } from "./testing/browser.ts";
export { TideKeeper } from "./testing/tide-keeper.ts";
