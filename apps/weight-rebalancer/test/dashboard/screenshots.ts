import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildDashboard, TideKeeper } from "@evenkeel/dashboard/testing";
import { chromiumProgram, openBrowser, openPage, type PageOptions } from "@evenkeel/testkit/browser";
import { playAfternoon } from "./afternoon.ts";
import { ScriptedWeights } from "./scripted-weights.ts";

// Takes the pictures of the documentation: node apps/weight-rebalancer/test/dashboard/screenshots.ts

interface Picture extends PageOptions {
  readonly name: string;
  readonly hash: string;
  /** What must be there before the picture is taken. */
  readonly until: string;
  readonly tip?: boolean;
}

const checkout = { hash: "?rebalance=shop/checkout", until: ".what-if-weight" };
const pictures: readonly Picture[] = [
  { name: "dashboard-light", ...checkout, height: 1060, tip: true },
  { name: "dashboard-dark", ...checkout, height: 1060, colours: "dark", tip: true },
  { name: "dashboard-narrow", ...checkout, width: 360, height: 1400 },
  { name: "dashboard-decisions", hash: "decisions", until: ".decisions", height: 820 },
  { name: "dashboard-peers", hash: "peers", until: ".tile.down", height: 480 },
  { name: "dashboard-settings", hash: "settings", until: ".settings", height: 640, colours: "dark" },
];

const root = join(import.meta.dirname, "../../../..");
const images = join(root, "docs/images");
const folder = await mkdtemp(join(tmpdir(), "screenshots-"));
await mkdir(images, { recursive: true });
await buildDashboard(join(root, "apps/weight-rebalancer"), join(folder, "dist/dashboard"));
const main = pathToFileURL(join(folder, "src/main.ts")).href;

const peer = await new TideKeeper(main).run();
const now = Date.now();
for (let turn = 24; turn > 0; turn--) peer.decide("mid", (turn * 29) % 100, new Date(now - turn * 70_000));
const gone = await new TideKeeper(main).run();
const peers = `--dashboard-peers=tide-keeper=${peer.url},eviction-planner=${gone.url}`;
await gone.stop();
const weights = await new ScriptedWeights(main, [peers]).run();
playAfternoon(weights, new Date(now));

const browser = await openBrowser(chromiumProgram() ?? "chromium");
for (const { name, hash, until, tip = false, ...options } of pictures) {
  const shown = await openPage(browser, weights.url, options);
  const { page } = shown;
  await page.goto(`${weights.url}/dashboard/#/${hash}`);
  await page.locator(until).first().waitFor();
  if (tip) {
    await page.getByRole("img", { name: /Weight of/ }).focus();
    for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowLeft");
    await page.locator(".tip").waitFor();
  }
  if (hash === "decisions")
    await page
      .getByRole("button", { name: /Details/ })
      .nth(1)
      .click();
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await shown.close();
}
await browser.close();
await weights.stop();
await peer.stop();
await rm(folder, { recursive: true });
