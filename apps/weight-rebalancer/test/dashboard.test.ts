import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildDashboard } from "@evenkeel/dashboard/testing";
import { openPage, type PageOptions } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { playAfternoon } from "./dashboard/afternoon.ts";
import { ScriptedWeights } from "./dashboard/scripted-weights.ts";

const project = join(import.meta.dirname, "..");

describeInBrowser("the page of weights", (browser) => {
  let folder: string;
  let main: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "weights-page-"));
    await buildDashboard(project, join(folder, "dist/dashboard"));
    main = pathToFileURL(join(folder, "src/main.ts")).href;
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  async function open(weights: ScriptedWeights, hash = "?rebalance=shop/checkout", options: PageOptions = {}) {
    const watched = await openPage(browser(), weights.url, options);
    await watched.page.goto(`${weights.url}/dashboard/#/${hash}`);
    const detail = watched.page.locator(".weight-detail");
    const stat = (label: string) => detail.locator(".stat", { hasText: label });
    return { ...watched, detail, stat, [Symbol.asyncDispose]: () => watched.close() };
  }

  async function afternoon() {
    const weights = await new ScriptedWeights(main).run();
    playAfternoon(weights, new Date());
    return weights;
  }

  test("says that there is no Rebalance, and shows the first one as soon as it is there", async () => {
    await using weights = await new ScriptedWeights(main).run();
    await using opened = await open(weights);
    await opened.page.getByText("No Rebalances").waitFor();
    playAfternoon(weights, new Date());
    await opened.detail.getByRole("heading", { name: "shop/checkout" }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("lists every Rebalance with its state, and tells unknown from zero", async () => {
    await using weights = await afternoon();
    await using opened = await open(weights, "?rebalance=media/video");
    const { page, stat } = opened;
    await stat("Metric").getByText("Unknown").waitFor();
    const entries = await page.locator(".object-list li").allInnerTexts();
    expect(entries.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
      "media/images Following 512 of 400 3 · 23.1 %",
      "media/video No metric – of 400 12 · 54.5 %",
      expect.stringMatching(/^shop\/checkout Following /),
      "shop/search Paused 380 of 400 0 · 0.0 %",
    ]);
    await page.getByRole("link", { name: "shop/search" }).click();
    await stat("Weight").getByText("0", { exact: true }).waitFor();
    expect(page.url()).toContain("#/?rebalance=shop%2Fsearch");
  });

  test("draws metric and weight, and tells each change's reason to pointer and keyboard", async () => {
    await using weights = await afternoon();
    await using opened = await open(weights);
    const { page, detail, complaints } = opened;
    const chart = detail.getByRole("img", { name: /Weight of shop\/checkout over time with \d+ changes/ });
    await chart.locator("canvas").waitFor();
    await detail
      .getByRole("img", { name: /Metric of shop\/checkout over time/ })
      .locator("canvas")
      .waitFor();
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    const tip = chart.locator(".tip");
    await tip.getByText(/→ \d+ · (TargetTracking|StepLimit|Minimum)/).waitFor();
    expect(await tip.innerText()).toMatch(
      /Metric \d+ is [\d.]+ times the target 1000; the weight goes from \d+ to \d+/,
    );
    await page.keyboard.press("Tab");
    await tip.waitFor({ state: "detached" });

    const box = await chart.locator(".u-over").boundingBox();
    if (!box) throw new Error("the chart has no size");
    for (let x = 0; x < box.width; x += 6) {
      await page.mouse.move(box.x + x, box.y + box.height / 2);
      if ((await tip.locator("strong").count()) > 0) break;
    }
    expect(await tip.locator("strong").innerText()).toMatch(/\d+ → \d+ · \w+/);
    expect(complaints).toEqual([]);
  });

  test("shows the share as it was and is, the conditions and the last decisions of this one alone", async () => {
    await using weights = await afternoon();
    await using opened = await open(weights);
    const { detail } = opened;
    await detail.getByText(/^Before/).waitFor();
    const bars = await Promise.all(
      (await detail.locator(".share-track").all()).map((bar) => bar.getAttribute("aria-label")),
    );
    expect(bars).toEqual([
      expect.stringMatching(/^blue 6\d\.\d %, the others/),
      expect.stringMatching(/^blue 65\.2 %/),
    ]);
    const conditions = detail.locator(".conditions tbody tr");
    expect(await conditions.count()).toBe(4);
    expect(await conditions.first().innerText()).toMatch(/Ready\s+True\s+InStep /);
    weights.decide("media/images", new Date(), {
      action: "hold",
      reason: "Cooldown",
      before: 3,
      after: 3,
      message: "not yet",
    });
    const table = detail.locator(".decisions");
    const message = "The weight goes from 15 to 17";
    weights.decide("shop/checkout", new Date(), {
      action: "raise",
      reason: "Schedule",
      before: 15,
      after: 17,
      message,
    });
    await table.getByText(message).waitFor();
    expect(await table.innerText()).not.toContain("not yet");
  });

  test("follows a weight as it changes, and drops a Rebalance that is removed", async () => {
    await using weights = await afternoon();
    await using opened = await open(weights);
    const { page, stat, complaints } = opened;
    await stat("Weight").getByText("15", { exact: true }).waitFor();
    const targets = (actual: bigint) => [{ name: "route53 Z1/www.example.com A blue", actual, share: 0.7 }];
    weights.set("shop/checkout", { metric: 3300, desired: 19n, targets: targets(15n), reason: "TargetTracking" });
    await stat("Metric").getByText("3,300").waitFor();
    await stat("Weight").getByText("19 was decided").waitFor();
    weights.set("shop/checkout", { targets: targets(19n) });
    await stat("Weight").getByText("19", { exact: true }).waitFor();
    await stat("Share").getByText("70.0 %").waitFor();
    const points = weights.points.get("shop/checkout") ?? [];
    points.push({
      at: new Date().toISOString(),
      metric: 3300,
      targetValue: 1000,
      desired: 19n,
      actual: 19n,
      share: 0.7,
    });
    weights.set("shop/checkout", { decidedAt: new Date().toISOString() });
    await page.getByRole("img", { name: "blue 65.2 %, the others 34.8 %" }).waitFor();
    weights.remove("shop/search");
    await page.getByRole("link", { name: "shop/search" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  test("answers a what-if by keyboard, and writes nothing", async () => {
    await using weights = await afternoon();
    await using opened = await open(weights);
    const { page } = opened;
    const slider = page.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("Home");
    await page.locator(".what-if-answer").getByText("Metric 0 asks for a weight of 2").waitFor();
    await page.keyboard.press("End");
    await page.locator(".what-if-answer").getByText("Metric 4500 asks for a weight of 28").waitFor();
    expect(await page.locator(".what-if-weight").innerText()).toMatch(/15 → 28\s*77\.8 % of the traffic/);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.locator(".what-if").getByText("current value").waitFor();
    expect(weights.previews).toContain(4500);
    expect(weights.paused).toEqual([]);
  });

  test("pauses and resumes after a confirmation, with a token that stays in memory", async () => {
    await using weights = await afternoon();
    await using opened = await open(weights);
    const { page, detail, complaints } = opened;
    const dialog = page.getByRole("dialog");
    await detail.getByRole("button", { name: "Pause" }).click();
    await dialog.getByText(/The weight of shop\/checkout stays/).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await detail.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("alert").getByText("EK_RPC_UNAUTHENTICATED").waitFor();
    await dialog.getByLabel("Bearer token").fill("guest");
    await dialog.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("alert").getByText("EK_RPC_FORBIDDEN").waitFor();
    expect(weights.paused).toEqual([]);
    await dialog.getByLabel("Bearer token").fill("captain");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await detail.getByRole("button", { name: "Resume" }).click();
    await dialog.getByText("follows its metric again").waitFor();
    expect(await dialog.getByLabel("Bearer token").count()).toBe(0);
    await dialog.getByRole("button", { name: "Resume" }).click();
    await detail.getByRole("button", { name: "Pause" }).waitFor();
    expect(weights.paused).toEqual(["shop/checkout true", "shop/checkout false"]);
    const kept = await page.evaluate<string>(
      "JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie",
    );
    expect(kept).not.toContain("captain");
    expect(complaints).toEqual([]);
  });

  test("comes back by itself when the server was gone", async () => {
    const weights = await afternoon();
    const { port } = new URL(weights.url);
    await using opened = await open(weights);
    const { page, stat } = opened;
    await stat("Weight").getByText("15", { exact: true }).waitFor();
    await weights.stop();
    await page.locator(".banner").getByText("Disconnected").waitFor();
    await using back = new ScriptedWeights(main, [`--admin-port=${port}`]);
    back.set("shop/checkout", {
      targetValue: 1000,
      targets: [{ name: "a b", actual: 7n }],
      message: "back again",
      reason: "InStep",
    });
    await back.run();
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.getByText("back again").waitFor();
    await stat("Weight").getByText("7", { exact: true }).waitFor();
    // The only one left has the page to itself.
    expect(await page.locator(".object-list").count()).toBe(0);
    back.remove("shop/checkout");
    await page.getByText("No Rebalances").waitFor();
  });

  test.each(["light", "dark"] as const)(
    "is read at 360 px in %s colours without scrolling sideways",
    async (colours) => {
      await using weights = await afternoon();
      await using opened = await open(weights, undefined, { width: 360, height: 740, colours });
      await opened.detail.locator("canvas").first().waitFor();
      await opened.detail.locator(".what-if-weight").waitFor();
      expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      expect(opened.complaints).toEqual([]);
    },
  );
});
