import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildDashboard } from "@evenkeel/dashboard/testing";
import { chromiumProgram, openBrowser, openPage, type PageOptions } from "@evenkeel/testkit/browser";
import { resolverV1 } from "@evenkeel/rpc";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Browser } from "playwright-core";
import { playQuietHour } from "./dashboard/quiet-hour.ts";
import { ScriptedResolver } from "./dashboard/scripted-resolver.ts";

const project = join(import.meta.dirname, "..");
const program = chromiumProgram();
const { STATE_SERVE, STATE_GUARD, STATE_ZERO } = resolverV1.State;

(program === undefined ? describe.skip : describe)(`the page of services${program ? "" : " (needs chromium)"}`, () => {
  let folder: string;
  let main: string;
  let browser: Browser;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "services-page-"));
    await buildDashboard(project, join(folder, "dist/dashboard"));
    main = pathToFileURL(join(folder, "src/main.ts")).href;
    browser = await openBrowser(program ?? "");
  });

  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  async function open(resolver: ScriptedResolver, hash = "?service=shop/checkout", options: PageOptions = {}) {
    const watched = await openPage(browser, resolver.url, options);
    await watched.page.goto(`${resolver.url}/dashboard/#/${hash}`);
    const detail = watched.page.locator(".service-detail");
    const stat = (label: string) => detail.locator(".stat", { hasText: label });
    const card = (title: string) => detail.getByRole("region", { name: title });
    return { ...watched, detail, stat, card, [Symbol.asyncDispose]: () => watched.close() };
  }

  async function quietHour() {
    const resolver = await new ScriptedResolver(main).run();
    playQuietHour(resolver, new Date());
    return resolver;
  }

  test.concurrent("says that there is no ElastiService, and shows the first one as soon as it is there", async () => {
    await using resolver = await new ScriptedResolver(main).run();
    await using opened = await open(resolver);
    await opened.page.getByText("No ElastiServices").waitFor();
    playQuietHour(resolver, new Date());
    await opened.detail.getByRole("heading", { name: "shop/checkout" }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test.concurrent("lists every service with its state, and tells unknown from zero", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver, "?service=shop/fraud-check");
    const { page, stat } = opened;
    await stat("Waiting").getByText("Unknown").waitFor();
    const entries = await page.locator(".object-list li").allInnerTexts();
    expect(entries.map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual([
      "media/images Serve 0 waiting · 3 pods 2 h ago",
      "media/video Zero 0 waiting · 0 pods 9 h ago",
      expect.stringMatching(/^shop\/checkout Wake 38 waiting · 0 pods \d+ s ago$/),
      "shop/fraud-check Unknown – waiting · – pods",
      expect.stringMatching(/^shop\/recommendations Guard 0 waiting · 2 pods \d+ s ago$/),
      "shop/search Serve 0 waiting · 1 pod · paused 8 min ago",
    ]);
    await page.getByRole("link", { name: "media/video" }).click();
    await stat("Waiting").getByText("0", { exact: true }).waitFor();
    expect(page.url()).toContain("#/?service=media%2Fvideo");
  });

  test.concurrent("draws the states as a time line that tells each reason to pointer and keyboard", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver);
    const { page, detail, card, complaints } = opened;
    const line = detail.getByRole("img", { name: /States of shop\/checkout in 1 h, 15 changes, now Wake/ });
    await line.waitFor();
    expect(await line.locator(".band").count()).toBe(16);
    await line.focus();
    await page.keyboard.press("ArrowLeft");
    const tip = line.locator(".tip");
    await tip.getByText("Wake · RequestHeld").waitFor();
    expect(await tip.innerText()).toContain("The resolver holds 38 requests; the workload is scaled to 1");
    expect(await tip.innerText()).toMatch(/for \d+ s so far/);
    await page.keyboard.press("ArrowLeft");
    await tip.getByText("Zero · Quiet").waitFor();
    expect(await tip.innerText()).toMatch(/4 min 32 s$/);
    await page.keyboard.press("Tab");
    await tip.waitFor({ state: "detached" });

    await line.locator(".band.Serve").first().hover();
    await tip.getByText("Serve · found so").waitFor();
    await card("States").getByRole("button", { name: "15 min" }).click();
    await detail.getByRole("img", { name: /in 15 min, 6 changes/ }).waitFor();
    await card("States").getByRole("button", { name: "All" }).click();
    await detail.getByRole("img", { name: /in 1 h 30 min, 15 changes/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  test.concurrent("draws waiting requests over time, and the parts of each wake", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver);
    const { detail, card, complaints } = opened;
    await detail
      .getByRole("img", { name: "Requests of shop/checkout that waited over time, now 38" })
      .locator("canvas")
      .waitFor();
    const bars = card("Last wakes").locator(".wake-track");
    await bars.first().waitFor();
    const labels = await Promise.all((await bars.all()).map((bar) => bar.getAttribute("aria-label")));
    expect(labels).toEqual([
      "scale call 8 ms, pod start not yet, first answer not yet",
      "scale call 14 ms, pod start 8.1 s, first answer 240 ms",
      "scale call 9 ms, pod start 4.3 s, first answer 61 ms",
    ]);
    const rows = await card("Last wakes").locator("li:has(.wake-track)").allInnerTexts();
    expect(rows.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
      expect.stringMatching(/38 requests in progress$/),
      "10 min ago 212 requests 8.4 s",
      "41 min ago 1 request 4.4 s",
    ]);
    const widths = await bars
      .nth(1)
      .locator(".wake-phase")
      .evaluateAll((parts) => parts.map((part) => (part as unknown as { readonly offsetWidth: number }).offsetWidth));
    const [scale = 0, start = 0, connect = 0] = widths;
    expect(start).toBeGreaterThan(10 * connect);
    expect(connect).toBeGreaterThan(scale);
    expect(complaints).toEqual([]);
  });

  test.concurrent("shows which replica of the resolver has how many, and which one is not heard of", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver);
    const { detail, stat, card, complaints } = opened;
    await stat("Waiting").getByText("38", { exact: true }).waitFor();
    expect(await detail.locator(".resolvers").count()).toBe(0);
    const one = { name: "resolver-x", pending: 38n, inFlight: 2n };
    resolver.set("shop/checkout", {
      pending: 1240n,
      inFlight: 2n,
      resolvers: [one, { name: "resolver-y", pending: 1202n }],
    });
    await stat("Waiting").getByText("1,240", { exact: true }).waitFor();
    await stat("Waiting").getByText("2 in flight").waitFor();
    const rows = card("Queue").locator(".resolvers tbody tr");
    expect((await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual([
      "resolver-x 38 2",
      "resolver-y 1,202 0",
    ]);

    const activityGap = "The shared state does not answer; only the requests of replica resolver-x are known";
    resolver.set("shop/checkout", { pending: 38n, resolvers: [one], activityUnknown: true, activityGap });
    await stat("Waiting").getByText("At least 38", { exact: true }).waitFor();
    await stat("Waiting").getByText(activityGap).waitFor();
    await rows.first().waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  test.concurrent("says what keeps a service awake, and what only takes time", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver, "?service=media/images");
    const { page, card } = opened;
    await card("What is next").getByText("Keeps it awake").waitFor();
    const reasons = await card("What is next").locator(".obstacles li").allInnerTexts();
    expect(reasons.map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
      expect.stringMatching(/^Busy The trigger prometheus .+7 is not below 0\.5$/),
      "Cooldown The cooldown of 900 s counts from 2026-11-16T11:53:32Z; 512 s are left",
    ]);
    resolver.previews.set("media/images", {
      state: STATE_SERVE,
      next: STATE_GUARD,
      reason: "Idle",
      message: "It is idle",
    });
    resolver.set("media/images", { reason: "Idle", decidedAt: new Date().toISOString() });
    await card("What is next").getByText("It is idle").waitFor();
    expect(await card("What is next").locator(".next-state").innerText()).toMatch(/Serve\s*→\s*Guard/);
    await page.getByRole("link", { name: "shop/checkout" }).click();
    await card("What is next").getByText("Takes time").waitFor();
  });

  test.concurrent("shows the conditions and the last decisions of this one alone", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver);
    const { detail } = opened;
    const conditions = detail.locator(".conditions tbody tr");
    await conditions.first().waitFor();
    expect(await conditions.count()).toBe(3);
    expect(await conditions.first().innerText()).toMatch(/Ready\s+True\s+PodsStarting No pod of 1 replica/);
    resolver.decide("media/images", new Date(), {
      action: "stay",
      reason: "Busy",
      before: "Serve",
      after: "Serve",
      message: "not of this one",
    });
    const message = "Pods of the service serve again";
    resolver.decide("shop/checkout", new Date(), {
      action: "move",
      reason: "PodsReady",
      before: "Wake",
      after: "Guard",
      message,
    });
    const table = detail.locator(".decisions");
    await table.getByText(message).waitFor();
    expect(await table.innerText()).not.toContain("not of this one");
    expect(await table.innerText()).toContain("Wake → Guard");
  });

  test.concurrent("follows a service as it wakes, and drops one that is removed", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver);
    const { page, stat, detail, complaints } = opened;
    await stat("Waiting").getByText("38", { exact: true }).waitFor();
    resolver.set("shop/checkout", { pending: 1234n });
    await stat("Waiting").getByText("1,234", { exact: true }).waitFor();
    const since = new Date().toISOString();
    const history = resolver.histories.get("shop/checkout") ?? {};
    history.changes?.push({ at: since, state: STATE_GUARD, reason: "PodsReady", message: "Pods serve" });
    resolver.set("shop/checkout", {
      state: STATE_GUARD,
      since,
      pending: 0n,
      inFlight: 40n,
      pods: { ready: 1 },
      lastWake: { seconds: 12n, nanos: 400_000_000 },
    });
    await stat("State")
      .getByText(/^Guard/)
      .waitFor();
    await stat("Waiting").getByText("40 in flight").waitFor();
    await stat("Last wake").getByText("12 s", { exact: true }).waitFor();
    await detail.getByRole("img", { name: /16 changes, now Guard/ }).waitFor();
    resolver.remove("shop/search");
    await page.getByRole("link", { name: "shop/search" }).waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  test.concurrent("wakes, pauses and resumes after a confirmation, with the right token", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver, "?service=media/video");
    const { page, detail, complaints } = opened;
    const dialog = page.getByRole("dialog");
    await detail.getByRole("button", { name: "Wake" }).click();
    await dialog.getByText("The workload of media/video is scaled up now").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(resolver.done).toEqual([]);

    await detail.getByRole("button", { name: "Wake" }).click();
    await dialog.getByLabel("Bearer token").fill("guest");
    await dialog.getByRole("button", { name: "Wake" }).click();
    await dialog.getByRole("alert").getByText("EK_RPC_FORBIDDEN").waitFor();
    await dialog.getByLabel("Bearer token").fill("captain");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    // During the wake there is no button.
    await detail.getByRole("button", { name: "Wake" }).waitFor({ state: "detached" });
    await detail.locator(".object-title .badge").getByText("Wake").waitFor();
    await detail.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("button", { name: "Pause" }).click();
    await detail.getByRole("button", { name: "Resume" }).click();
    await dialog.getByRole("button", { name: "Resume" }).click();
    await detail.getByRole("button", { name: "Pause" }).waitFor();
    expect(resolver.done).toEqual([
      "wake media/video: requested on the dashboard",
      "pause media/video",
      "resume media/video",
    ]);
    expect(complaints).toEqual([]);
  });

  test.concurrent("says that the history and the preview could not be had, and asks again when told to", async () => {
    await using resolver = await quietHour();
    await using opened = await open(resolver, "?service=shop/search");
    const { card, detail } = opened;
    await detail.getByText("The history could not be loaded").waitFor();
    await detail.getByText("EK_RPC_NOT_FOUND").waitFor();
    resolver.histories.set("shop/search", { changes: [], wakes: [], queue: [] });
    await detail.getByRole("button", { name: "Retry" }).click();
    await card("States").getByText("No states yet").waitFor();
    await card("Queue").getByText("No counts yet").waitFor();
    await card("Last wakes").getByText("No wake yet").waitFor();
    await card("What is next").getByText("The preview could not be loaded").waitFor();
    await detail.getByText("No conditions yet").waitFor();
    await detail.getByText("No decision yet").waitFor();
  });

  test.concurrent("comes back by itself when the server was gone", async () => {
    const resolver = await quietHour();
    const { port } = new URL(resolver.url);
    await using opened = await open(resolver);
    const { page, stat } = opened;
    await stat("State").getByText(/^Wake/).waitFor();
    await resolver.stop();
    await page.locator(".banner").getByText("Disconnected").waitFor();
    await using back = new ScriptedResolver(main, [`--admin-port=${port}`]);
    back.set("shop/checkout", { state: STATE_ZERO, pending: 0n, message: "back again", reason: "Asleep" });
    await back.run();
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.getByText("back again").waitFor();
    await stat("State").getByText(/^Zero/).waitFor();
    // The only one left has the page to itself.
    expect(await page.locator(".object-list").count()).toBe(0);
    back.remove("shop/checkout");
    await page.getByText("No ElastiServices").waitFor();
  });

  test.concurrent.each(["light", "dark"] as const)(
    "is read at 360 px in %s colours without scrolling sideways",
    async (colours) => {
      await using resolver = await quietHour();
      await using opened = await open(resolver, undefined, { width: 360, height: 740, colours });
      await opened.detail.locator("canvas").first().waitFor();
      await opened.detail.locator(".next-state").waitFor();
      const line = opened.detail.locator(".time-line");
      for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft"]) {
        await line.focus();
        await opened.page.keyboard.press(key);
        await line.locator(".tip").waitFor();
        expect(await opened.page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      }
      expect(opened.complaints).toEqual([]);
    },
  );
});
