import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is; nothing where it is not installed, and then a test is skipped under a name that says so. */
export function chromiumProgram(): string | undefined {
  return programs.find((program) => existsSync(program));
}

/** A headless Chromium that asks nothing of the network but what the page asks. */
export function openBrowser(program: string): Promise<Browser> {
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ];
  return chromium.launch({ executablePath: program, headless: true, args });
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

/** A page of its own, whose complaints are collected from the start. */
export async function openPage(browser: Browser, origin: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { width = 1280, height = 900, colours = "light" } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: colours,
    acceptDownloads: true,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
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
  const close = () => context.close();
  return { page, complaints, close, [Symbol.asyncDispose]: close };
}
