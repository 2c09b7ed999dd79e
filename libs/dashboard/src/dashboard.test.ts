import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { dashboardFiles } from "./dashboard.ts";
import { TideKeeper } from "./testing/tide-keeper.ts";

/** A service in a folder of its own whose dashboard holds `files`. */
async function serve(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), "tide-keeper-"));
  const folder = join(root, "dist/dashboard");
  const put = async (entries: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(entries)) {
      await mkdir(join(folder, name, ".."), { recursive: true });
      await writeFile(join(folder, name), content);
    }
  };
  await put(files);
  const tide = await new TideKeeper(pathToFileURL(join(root, "src/main.ts")).href).run();
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(tide.url + path, { headers: { "accept-encoding": "identity", ...headers }, redirect: "manual" });
  const dispose = async () => {
    await tide.stop();
    await rm(root, { recursive: true });
  };
  return { ask, put, root, [Symbol.asyncDispose]: dispose };
}

const built = { "index.html": "<p>one", "assets/app-ABCDEFGH.js": "let a", "assets/app-ABCDEFGH.js.br": "not brotli" };

describe("the dashboard's files", () => {
  test("are beside a bundle, and in dist beside sources", () => {
    expect(dashboardFiles("file:///srv/main.mjs").folder).toBe("/srv/dashboard");
    expect(dashboardFiles("file:///src/apps/tide-keeper/src/main.ts")).toEqual({
      folder: "/src/apps/tide-keeper/dist/dashboard",
      app: "tide-keeper",
    });
  });

  test("are reached by a relative redirect, so that a proxy's path in front stays", async () => {
    await using page = await serve(built);
    const answer = await page.ask("/dashboard");
    expect([answer.status, answer.headers.get("location")]).toEqual([308, "dashboard/"]);
  });

  test("have a policy under which nothing inline runs and nothing from elsewhere loads", async () => {
    await using page = await serve(built);
    for (const path of ["/dashboard/", "/dashboard/assets/app-ABCDEFGH.js"]) {
      const policy = (await page.ask(path)).headers.get("content-security-policy");
      expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy).not.toMatch(/unsafe|http|\*/);
    }
    expect((await page.ask("/")).headers.get("content-security-policy")).not.toContain("script-src");
  });

  test("are kept for ever where their name says their content, and asked about where it does not", async () => {
    await using page = await serve(built);
    const asset = await page.ask("/dashboard/assets/app-ABCDEFGH.js");
    expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const index = await page.ask("/dashboard/");
    expect(index.headers.get("cache-control")).toBe("no-cache");
    const etag = index.headers.get("etag") ?? "";
    const again = await page.ask("/dashboard/", { "if-none-match": `"other", W/${etag}` });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await page.ask("/dashboard/", { "if-none-match": `"other"` })).status).toBe(200);
  });

  test("are sent as they were compressed, to those who take it", async () => {
    await using page = await serve({ ...built, "assets/app-ABCDEFGH.css": "a{}" });
    const plain = await page.ask("/dashboard/assets/app-ABCDEFGH.js");
    expect([plain.headers.get("content-encoding"), plain.headers.get("vary"), await plain.text()]).toEqual([
      null,
      "accept-encoding",
      "let a",
    ]);
    expect(plain.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const packed = await page.ask("/dashboard/assets/app-ABCDEFGH.js", { "accept-encoding": "gzip, br" });
    expect(packed.headers.get("content-encoding")).toBe("br");
    await packed.body?.cancel().catch(() => undefined);
    const css = await page.ask("/dashboard/assets/app-ABCDEFGH.css", { "accept-encoding": "gzip, br" });
    expect([css.headers.get("content-encoding"), await css.text()]).toEqual([null, "a{}"]);
  });

  test.each([
    "/dashboard/assets/none.js",
    "/dashboard/assets/app-ABCDEFGH.js.br",
    "/dashboard/assets/..%2f..%2f..%2fsecret.txt",
    "/dashboard/assets/%2e%2e%2findex.html",
    "/dashboard/index.html",
  ])("are the only ones: %s is not found, and not kept", async (path) => {
    await using page = await serve(built);
    await writeFile(join(page.root, "secret.txt"), "secret");
    const answer = await page.ask(path);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([404, "no-store"]);
  });

  test("are said to be missing, with the command that builds them, and are seen once they are built", async () => {
    await using page = await serve({});
    const missing = await page.ask("/dashboard/");
    expect(missing.status).toBe(503);
    expect(await missing.text()).toMatch(/<code>nx run tide-keeper-\w+:dashboard<\/code>/);
    expect((await page.ask("/dashboard/assets/app-ABCDEFGH.js")).status).toBe(404);
    await page.put(built);
    expect(await (await page.ask("/dashboard/")).text()).toBe("<p>one");
    await page.put({ "index.html": "<p>another", "assets/app-HGFEDCBA.js": "let b" });
    expect(await (await page.ask("/dashboard/")).text()).toBe("<p>another");
    expect(await (await page.ask("/dashboard/assets/app-HGFEDCBA.js")).text()).toBe("let b");
  });
});
