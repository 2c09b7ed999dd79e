import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { buildDashboard, type Built, TideKeeper } from "@evenkeel/dashboard/testing";
import { eventually } from "@evenkeel/runtime/testing";
import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import type { Route } from "playwright-core";
import { startPrefixProxy } from "./prefix-proxy.ts";

/** What a page with a hole would run: an inline script, and a picture from another host. */
const breakIn = `(() => {
  const script = document.createElement("script");
  script.append("globalThis.broken = true");
  document.body.append(script);
  const image = new Image();
  image.src = "http://127.0.0.1:1/tracker.png";
  document.body.append(image);
  return globalThis.broken ?? false;
})()`;
const pages = ["", "decisions", "peers", "health", "settings"];

describeInBrowser("the shell in a browser", (browser) => {
  let folder: string;
  let main: string;
  let built: Built;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "dashboard-"));
    built = await buildDashboard(folder);
    main = pathToFileURL(join(folder, "src/main.ts")).href;
  });

  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  async function open(tide: { readonly url: string }, hash = "", options: Parameters<typeof openPage>[2] = {}) {
    const watched = await openPage(browser(), new URL(tide.url).origin, options);
    await watched.page.goto(`${tide.url}/dashboard/#/${hash}`);
    await watched.page.locator("main .state.loading").waitFor({ state: "detached" });
    return { ...watched, [Symbol.asyncDispose]: () => watched.close() };
  }

  test("every page shows what it promises, and complains of nothing", async () => {
    await using peer = await new TideKeeper(main).run();
    const gone = await new TideKeeper(main).run();
    const { url: dead } = gone;
    await gone.stop();
    const peers = `--dashboard-peers=planner=${peer.url},proxy=${dead}`;
    await using tide = await new TideKeeper(main, [peers, "--radio-token=hunter2"]).run();
    peer.decide("mid", 10);
    tide.decide("fore", 20);
    await using opened = await open(tide);
    const { page, complaints } = opened;
    const text = () => page.locator("main").innerText();

    await page.getByText("fore stands at 20 %, 50 % is wanted").waitFor();
    expect(await page.title()).toBe("Overview · tide-keeper");

    await page.getByRole("link", { name: "Decisions", exact: true }).click();
    await page.getByText("1 of 1 decisions · 1 changed something").waitFor();

    await page.getByRole("link", { name: "Peers" }).click();
    const tile = (name: string) => page.locator(".tile", { has: page.getByRole("heading", { name }) });
    await tile("planner").getByText("Ready").waitFor();
    await tile("planner").getByText("mid stands at 10 %").waitFor();
    expect(await tile("planner").getByRole("link").getAttribute("href")).toBe(`${peer.url}/dashboard/`);
    await tile("proxy").getByText("Down").waitFor();
    expect(await tile("proxy").innerText()).toContain("ECONNREFUSED");

    await page.getByRole("link", { name: "Health" }).click();
    await page.getByText("Nothing keeps this service from working.").waitFor();

    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByText("--radio-token").waitFor();
    expect(await text()).toContain("********");
    expect(await page.content()).not.toContain("hunter2");

    await page.goto(`${tide.url}/dashboard/#/nowhere`);
    await page.getByText("Page not found").waitFor();
    expect(complaints).toEqual([]);
  });

  test("says why the service is not ready", async () => {
    const tide = new TideKeeper(main);
    tide.service.use({
      name: "pump",
      unready: () => "no pressure",
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
    });
    await using running = await tide.run();
    await using opened = await open(running, "health");
    await opened.page.locator(".checks").getByText("no pressure").waitFor();
    expect(await opened.page.locator(".side").innerText()).toContain("Not ready");
  });

  test("decisions come by themselves, and stand still when they are told to", async () => {
    await using tide = await new TideKeeper(main).run();
    await using opened = await open(tide, "decisions");
    const { page, complaints } = opened;
    await page.getByText("No decision yet").waitFor();
    tide.decide("fore", 20);
    await page.getByRole("cell", { name: "fore stands at 20 %" }).waitFor();
    await page.getByRole("button", { name: "Pause updates" }).click();
    tide.decide("aft", 30);
    await page.getByRole("button", { name: "Resume updates (1 new)" }).waitFor();
    expect(await page.getByText("aft stands at 30 %").count()).toBe(0);
    await page.getByRole("button", { name: /Resume updates/ }).click();
    await page.getByText("aft stands at 30 %").waitFor();
    expect(complaints).toEqual([]);
  });

  test("decisions are found by words, reason and change, and the address holds the filter", async () => {
    await using tide = await new TideKeeper(main).run();
    tide.decide("fore", 20);
    tide.decide("aft", 70);
    tide.decide("aft", null);
    await using opened = await open(tide, "decisions");
    const { page } = opened;
    const count = page.locator(".count");
    await count.getByText("3 of 3 decisions").waitFor();
    await page.getByLabel("Search").fill("ship/AFT");
    await count.getByText("2 of 3").waitFor();
    await page.getByLabel("Reason").selectOption("NoData");
    await count.getByText("1 of 3").waitFor();
    expect(page.url()).toContain("#/decisions?text=ship%2FAFT&reason=NoData");
    await page.reload();
    await count.getByText("1 of 3").waitFor();
    await page.getByLabel("Changes only").check();
    await page.getByText("No decision matches").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await count.getByText("3 of 3").waitFor();
  });

  test("a decision opens to its facts, its snapshot as a file, and the command that replays it", async () => {
    await using tide = await new TideKeeper(main, ["--recorded-snapshots=1"]).run();
    const old = tide.decide("aft", 10);
    const { id } = tide.decide("fore", 20);
    await using opened = await open(tide, "decisions");
    const { page, complaints } = opened;
    await page.getByRole("button", { name: "Details of Tank/ship/fore, Low" }).click();
    await page.getByText(`tide-keeper replay ${id}.json`).waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download snapshot" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${id}.json`);
    expect(await readFile(await download.path(), "utf8")).toBe(tide.service.decisions.recording(id));

    await page.getByRole("button", { name: "Details of Tank/ship/aft, Low" }).click();
    await page.getByText(`tide-keeper replay ${old.id}.json`).waitFor();
    await page.getByRole("button", { name: "Download snapshot" }).click();
    await page.getByRole("alert").getByText("EK_RUNTIME_NO_RECORDING").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a server that dies is said to be gone; when it is back, the page goes on by itself and misses nothing", async () => {
    const tide = await new TideKeeper(main).run();
    const { port } = new URL(tide.url);
    const first = tide.decide("fore", 20);
    await using opened = await open(tide, "decisions");
    const { page, complaints } = opened;
    await page.getByText(first.message).waitFor();
    await tide.stop();
    await page.locator(".banner").getByText("Disconnected").waitFor();
    expect(await page.locator(".live-sign").innerText()).toBe("Disconnected");
    expect(await page.getByText(first.message).count()).toBe(1);

    await using back = new TideKeeper(main, [`--admin-port=${port}`]);
    await back.run();
    back.decide("aft", 30);
    await page.getByText("aft stands at 30 %").waitFor();
    await page.locator(".banner").waitFor({ state: "detached" });
    back.decide("port", 40);
    await page.getByText("port stands at 40 %").waitFor();
    expect(complaints).toEqual([]);
  });

  test("a service without streams is asked again and again, and missed when it does not answer", async () => {
    const tide = await new TideKeeper(main, [], false).run();
    await using opened = await open(tide, "decisions");
    const { page } = opened;
    await page.getByText("No decision yet").waitFor();
    tide.decide("fore", 20);
    await page.getByText("fore stands at 20 %").waitFor();
    await tide.stop();
    await page.locator(".banner").getByText("No answer").waitFor();
    expect(await page.getByText("fore stands at 20 %").count()).toBe(1);
  });

  test("a page that opens on nothing says that it cannot reach the service, and recovers", async () => {
    await using tide = await new TideKeeper(main).run();
    const watched = await openPage(browser(), tide.url);
    await using opened = { ...watched, [Symbol.asyncDispose]: () => watched.close() };
    const { page } = opened;
    // Back at the click and not before: the page also tries by itself, and with an answer the button goes.
    const answers = (route: Route) =>
      page.evaluate<boolean>("globalThis.tried ?? false").then((tried) => (tried ? route.continue() : route.abort()));
    await page.route("**/api/v1/**", answers);
    await page.goto(`${tide.url}/dashboard/`);
    await page.locator(".state.fault").getByText("unreachable").waitFor();
    await page.evaluate("addEventListener('click', () => (globalThis.tried = true), { capture: true })");
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText("in memory").waitFor();
    await page.locator(".banner").waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  test("is dark where the system is, and as the reader chooses, who is remembered", async () => {
    await using tide = await new TideKeeper(main).run();
    await using opened = await open(tide, "", { colours: "dark" });
    const { page } = opened;
    const brightness = async () => {
      const colour = await page.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
      return Math.max(...(colour.match(/\d+/g) ?? []).map(Number));
    };
    expect(await brightness()).toBeLessThan(60);
    await page.getByRole("button", { name: "Switch to light" }).click();
    await page.getByRole("button", { name: "Colours: light" }).waitFor();
    expect(await brightness()).toBeGreaterThan(200);
    await page.reload();
    await page.getByRole("button", { name: "Colours: light" }).waitFor();
    expect(await brightness()).toBeGreaterThan(200);
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("button", { name: "Switch to dark" }).click();
    await page.getByRole("button", { name: "Colours: dark" }).waitFor();
    expect(await brightness()).toBeLessThan(60);
  });

  test("is read at 360 px without scrolling sideways, however long the words are", async () => {
    await using tide = await new TideKeeper(main, ["--dashboard-peers=planner=http://127.0.0.1:1"]).run();
    tide.decide("a-tank-with-a-name-that-nobody-should-have-chosen-for-it", 20);
    for (const hash of pages) {
      await using opened = await open(tide, hash, { width: 360, height: 740 });
      const { page } = opened;
      await page.locator("main h1").waitFor();
      if (hash === "decisions") await page.getByRole("button", { name: /Details/ }).click();
      const width = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect(`${hash}: ${width}`).toBe(`${hash}: 360`);
    }
  });

  test("asks for a token where the service shows its data to nobody without, and goes on with it", async () => {
    const tide = new TideKeeper(main);
    tide.service.admin.routes.addHook("onRequest", async (request, reply) => {
      if (!request.url.startsWith("/api/") || request.headers.authorization === "Bearer captain") return;
      const status = request.headers.authorization === undefined ? 401 : 403;
      await reply.code(status).send({ code: `REFUSED_${status}`, message: "no" });
    });
    await using running = await tide.run();
    tide.decide("fore", 20);
    await using opened = await open(running);
    const { page, complaints } = opened;
    const form = page.getByRole("form", { name: "Access token required" });
    await form.getByText("REFUSED_401").waitFor();
    expect(await page.getByText("fore stands at").count()).toBe(0);
    await form.getByLabel("Bearer token").fill("guest");
    await form.getByRole("button", { name: "Continue" }).click();
    await form.getByText("REFUSED_403").waitFor();
    await form.getByLabel("Bearer token").fill("captain");
    await form.getByRole("button", { name: "Continue" }).click();
    await page.getByText("fore stands at 20 %").waitFor();
    tide.decide("aft", 10);
    await page.getByText("aft stands at 10 %").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Decisions", exact: true }).click();
    await page
      .getByRole("button", { name: /Details/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Download snapshot" }).first().click();
    expect((await download).suggestedFilename()).toMatch(/\.json$/);
    expect(await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")).not.toContain(
      "captain",
    );
    expect(complaints).toEqual([]);
  });

  test("is used by the keyboard alone", async () => {
    await using tide = await new TideKeeper(main).run();
    tide.decide("fore", 20);
    await using opened = await open(tide);
    const { page } = opened;
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to content");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Overview");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Decisions", level: 1 }).waitFor();
    // The new page's heading has the focus, so the next stops are the page's own.
    await page.keyboard.press("Tab");
    await page.keyboard.type("fore");
    await page.getByText("1 of 1 decisions").waitFor();
    for (let stops = 0; stops < 10; stops++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate("document.activeElement.getAttribute('aria-expanded')")) === "false") break;
    }
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    expect(outline).toBe("solid");
    await page.keyboard.press("Enter");
    await page.getByText("tide-keeper replay").waitFor();
  });

  test("runs nothing inline and nothing foreign: the policy stops it, and the tests would see it", async () => {
    await using tide = await new TideKeeper(main).run();
    await using opened = await open(tide);
    const { page, complaints } = opened;
    expect(complaints).toEqual([]);
    const ran = await page.evaluate(breakIn);
    expect(ran).toBe(false);
    const stopped = () => complaints.join("\n");
    await eventually(() => /tracker\.png/.test(stopped()) && /script/.test(stopped()));
    expect(stopped()).toMatch(/Content Security Policy/);
  });

  test("works behind a proxy that puts a path in front, as the API server's does", async () => {
    await using tide = await new TideKeeper(main).run();
    tide.decide("fore", 20);
    await using proxy = await startPrefixProxy("/api/v1/namespaces/ship/services/tide:8080/proxy", tide.url);
    const watched = await openPage(browser(), new URL(proxy.url).origin);
    await using opened = { ...watched, [Symbol.asyncDispose]: () => watched.close() };
    await opened.page.goto(`${proxy.url}/dashboard`);
    await opened.page.getByText("fore stands at 20 %").waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("weighs less than 100 KB with gzip, all that the first paint needs", () => {
    const total = Object.values(built.gzip).reduce((sum, bytes) => sum + bytes, 0);
    expect(Object.keys(built.gzip).length).toBeGreaterThanOrEqual(4);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(100_000);
  });
});
