import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { expect, test } from "@jest/globals";
import { eventually } from "@evenkeel/runtime/testing";
import { World } from "./world.ts";

describeInBrowser("the dashboard of the real process", (browser) => {
  test("shows the weight as it moves, with its reasons, and pauses it for an allowed user", async () => {
    await using world = await World.start();
    await world.create("checkout");
    const service = world.serve();
    const address = await service.url("admin", "/dashboard/");
    const { page, complaints, ...opened } = await openPage(browser(), new URL(address).origin);
    const detail = page.locator(".weight-detail");
    const weight = detail.locator(".stat", { hasText: "Weight" });
    await page.goto(address);
    await detail.getByRole("heading", { name: "default/checkout" }).waitFor();
    await weight.getByText("16", { exact: true }).waitFor();
    await detail.getByText("TargetTracking").first().waitFor();

    world.metric = 1500;
    await weight.getByText("4", { exact: true }).waitFor();
    await detail.locator(".decisions").getByText("16 → 4").waitFor();
    const chart = detail.getByRole("img", { name: /Weight of default\/checkout over time with [1-9]/ });
    await chart.locator("canvas").waitFor();
    await detail.locator(".conditions").getByText("MetricsAvailable").waitFor();

    await page.getByRole("slider").focus();
    await page.keyboard.press("End");
    await detail
      .locator(".what-if-weight")
      .getByText(/4 → \d{2}/)
      .waitFor();

    world.metric = null;
    await detail.locator(".stat", { hasText: "Metric" }).getByText("Unknown").waitFor();
    expect(world.weight()).toBe(4);

    const dialog = page.getByRole("dialog");
    await detail.getByRole("button", { name: "Pause" }).click();
    await dialog.getByLabel("Bearer token").fill("of nobody");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("EK_RPC_UNAUTHENTICATED").waitFor();
    await dialog.getByLabel("Bearer token").fill("secret");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await detail.getByRole("button", { name: "Resume" }).waitFor();
    await eventually(async () =>
      expect((await world.get("checkout")).metadata.annotations).toMatchObject({ "evenkeel.io/paused": "true" }),
    );
    expect(complaints).toEqual([]);
    await opened.close();
  }, 60_000);
});
