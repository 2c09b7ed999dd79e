import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { expect, test } from "@jest/globals";
import { fleetWorld, settled, staticFleet } from "./fleet-world.ts";

const path = (collector: string) => `/jobs/shop%2Fapp/targets?collector_id=${collector}`;

describeInBrowser("the dashboard", (browser) => {
  test("shows the share of each collector, and tells who scrapes a target", async () => {
    await using world = await fleetWorld();
    world.load(staticFleet("sample", 20, { replicas: 2 }));
    const service = world.serve();
    const owned = await settled(service, path, ["sample-collector-0", "sample-collector-1"], 20);
    const address = await service.url("admin", "/dashboard/");
    const { page, complaints, ...opened } = await openPage(browser(), new URL(address).origin);
    await page.goto(address);
    const detail = page.locator(".fleet-detail");
    await detail.getByRole("heading", { name: "sample" }).waitFor();
    for (const [name, own] of owned)
      await detail.getByRole("img", { name: new RegExp(`^${name}: load .*, ${own.length} targets$`) }).waitFor();
    await detail.locator(".stat", { hasText: "Targets" }).getByText("20", { exact: true }).waitFor();
    await detail.locator(".card", { hasText: "Movement" }).first().waitFor();
    await detail.locator(".conditions").getByText("CollectorsPolling").first().waitFor();
    await detail.getByLabel("Target", { exact: true }).fill("10.0.0.7:9100");
    await detail.getByRole("button", { name: "Explain" }).click();
    const owner = [...owned].find(([, own]) => own.includes("10.0.0.7:9100"))?.[0] ?? "";
    await detail.locator(".target-answer", { hasText: owner }).waitFor();
    expect(complaints).toEqual([]);
    await opened.close();
  }, 90_000);
});
