import { afterAll, beforeAll, describe } from "@jest/globals";
import type { Browser } from "playwright-core";
import { chromiumProgram, openBrowser } from "./browser.ts";

/**
 * Describes cases that share one headless Chromium; they are skipped, under a name that says so, where it is not
 * installed.
 */
export function describeInBrowser(name: string, cases: (browser: () => Browser) => void): void {
  const program = chromiumProgram();
  if (program === undefined) {
    describe.skip(`${name} (needs chromium)`, () => cases(() => never()));
    return;
  }
  describe(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await openBrowser(program);
    });
    afterAll(() => browser?.close());
    cases(() => browser ?? never());
  });
}

function never(): never {
  throw new Error("the browser is there while cases run");
}
