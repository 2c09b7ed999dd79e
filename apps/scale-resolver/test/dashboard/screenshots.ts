import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildDashboard } from "@evenkeel/dashboard/testing";
import { chromiumProgram, openBrowser, openPage, type PageOptions } from "@evenkeel/testkit/browser";
import { playQuietHour } from "./quiet-hour.ts";
import { ScriptedResolver } from "./scripted-resolver.ts";

// Takes the pictures of the documentation: node apps/scale-resolver/test/dashboard/screenshots.ts

interface Picture extends PageOptions {
  readonly name: string;
  readonly service: string;
  readonly tip?: boolean;
}

const pictures: readonly Picture[] = [
  { name: "resolver-light", service: "shop/checkout", height: 1180, tip: true },
  { name: "resolver-dark", service: "shop/checkout", height: 1180, colours: "dark", tip: true },
  { name: "resolver-awake", service: "media/images", height: 900 },
  { name: "resolver-narrow", service: "shop/checkout", width: 360, height: 2300 },
];

const root = join(import.meta.dirname, "../../../..");
const images = join(root, "docs/images");
const folder = await mkdtemp(join(tmpdir(), "screenshots-"));
await mkdir(images, { recursive: true });
await buildDashboard(join(root, "apps/scale-resolver"), join(folder, "dist/dashboard"));
const resolver = await new ScriptedResolver(pathToFileURL(join(folder, "src/main.ts")).href).run();
playQuietHour(resolver, new Date());

const browser = await openBrowser(chromiumProgram() ?? "chromium");
for (const { name, service, tip = false, ...options } of pictures) {
  const shown = await openPage(browser, resolver.url, options);
  const { page } = shown;
  await page.goto(`${resolver.url}/dashboard/#/?service=${service}`);
  await page.locator(".next-state").waitFor();
  if (tip) {
    await page.locator(".time-line").focus();
    for (let step = 0; step < 6; step++) await page.keyboard.press("ArrowLeft");
    await page.locator(".band-tip").waitFor();
  }
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await shown.close();
}
await browser.close();
await resolver.stop();
await rm(folder, { recursive: true });
