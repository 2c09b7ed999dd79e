import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is; nothing where it is not installed, and then a test is skipped under a name that says so. */
export function chromiumProgram(): string | undefined {
  return programs.find((program) => existsSync(program));
}

/** A headless Chromium with one window, which asks nothing of the network but what its pages ask. */
export async function openBrowser(program: string): Promise<Browser> {
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ];
  const browser = await chromium.launch({ executablePath: program, headless: true, args });
  await browser.newContext({ acceptDownloads: true });
  return browser;
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  /** What the page complained of: script errors, violations of its policy, requests to other hosts. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colours?: "light" | "dark";
}

/**
 * A page whose complaints are collected from the start. Pages of one browser share its window, because another one
 * would cost five times as much as a page. So they share cookies, and where they have the same origin also storage.
 */
export async function openPage(browser: Browser, origin: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1280, height = 900, colours = "light" } = options;
  const [context] = browser.contexts();
  if (context === undefined) throw new Error("the browser was not opened by openBrowser");
  const page = await context.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: colours, reducedMotion: "reduce" });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`script error: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // Chromium writes a line for each request that fails; what the page does about those is its own affair.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) complaints.push(text);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:")) {
      complaints.push(`request to ${url}`);
    }
  });
  const close = () => page.close();
  return { page, complaints, close, [Symbol.asyncDispose]: close };
}
