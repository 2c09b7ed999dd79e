import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { expect, test } from "@jest/globals";
import { hotSpot, load, policy } from "./hot-spot.ts";

describeInBrowser("the dashboard", (browser) => {
  test("shows how level the nodes are, what the plan would move, and what stays", async () => {
    await using world = await hotSpot();
    load(world, policy("berths", { basis: "requests" }));
    const service = world.serve(["--sync-period=1s"]);
    const address = await service.url("admin", "/dashboard/");
    const { page, complaints, ...opened } = await openPage(browser(), new URL(address).origin);
    await page.goto(address);
    const detail = page.locator(".plan-detail");
    await detail.getByRole("heading", { name: "berths" }).waitFor();
    await detail.getByText("HotNodes").first().waitFor();
    for (const label of ["σ now", "σ after the plan", "Bound"])
      await detail
        .locator(".stat", { hasText: label })
        .getByText(/^0\.\d+$/)
        .waitFor();
    await detail.getByRole("img", { name: /^one: 87\.5 % now/ }).waitFor();
    await detail
      .getByRole("cell", { name: /default\/press-/ })
      .first()
      .waitFor();
    await detail.getByRole("img", { name: /^now: 0 to 88 %/ }).waitFor();
    await detail.locator(".budgets").getByText("3 per minute").waitFor();
    await detail.getByRole("button", { name: /each constraint costs/ }).click();
    await detail.getByText("No constraint costs anything").waitFor();
    await detail.locator(".conditions").getByText("Converged").waitFor();
    await detail.locator(".decisions").getByText("HotNodes").first().waitFor();
    expect(complaints).toEqual([]);
    await opened.close();
  }, 60_000);
});
