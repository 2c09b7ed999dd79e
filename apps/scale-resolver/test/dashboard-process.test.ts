import { eventually } from "@evenkeel/runtime/testing";
import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { expect, test } from "@jest/globals";
import { World } from "./world.ts";

describeInBrowser("the dashboard of the real process", (browser) => {
  test("shows a service as it falls asleep and wakes, with its reasons, and wakes and pauses it with a token", async () => {
    await using world = await World.start({ startDelay: 1500 });
    await world.workload("checkout");
    await world.elasti("checkout");
    const service = world.serve();
    const address = await service.url("admin", "/dashboard/");
    const { page, complaints, ...opened } = await openPage(browser(), new URL(address).origin);
    const detail = page.locator(".service-detail");
    const state = detail.locator(".stat", { hasText: "State" });
    const next = detail.getByRole("region", { name: "What is next" });
    page.setDefaultTimeout(15_000);
    await page.goto(address);
    await detail.getByRole("heading", { name: "default/checkout" }).waitFor();
    await state.getByText(/^Serve/).waitFor();
    await next.getByText("Keeps it awake").waitFor();
    await next.getByText("Busy", { exact: true }).waitFor();
    await detail.getByText("Deployment/checkout").waitFor();

    world.traffic.set("checkout", 0);
    await state.getByText(/^Zero/).waitFor();
    await detail.getByRole("img", { name: /States of default\/checkout .*, now Zero/ }).waitFor();
    expect(await world.replicas("checkout")).toBe(0);
    await world.sleeps("checkout");

    const answer = world.ask("checkout", { method: "POST", path: "/buy", body: "one" });
    await state.getByText(/^Wake/).waitFor();
    await detail.locator(".stat", { hasText: "Waiting" }).getByText("1", { exact: true }).waitFor();
    expect((await answer).status).toBe(200);
    const wake = detail.getByRole("img", { name: /scale call \d+ ms, pod start [\d.]+ m?s, first answer \d+ ms/ });
    await wake.waitFor();
    await detail.locator(".band.Wake").last().hover();
    await detail.locator(".band-tip").getByText("The resolver holds 1 request").waitFor();
    await detail.locator(".decisions").getByText(/→/).first().waitFor();

    // Without requests it falls asleep again.
    await state.getByText(/^Zero/).waitFor();
    const dialog = page.getByRole("dialog");
    await detail.getByRole("button", { name: "Wake" }).click();
    await dialog.getByLabel("Bearer token").fill("of nobody");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("EK_RPC_UNAUTHENTICATED").waitFor();
    expect(await world.replicas("checkout")).toBe(0);
    await dialog.getByLabel("Bearer token").fill("secret");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await world.isScaledTo("checkout", 1);
    world.traffic.set("checkout", 5);
    await state.getByText(/^Serve/).waitFor();

    await detail.getByRole("button", { name: "Pause" }).click();
    await dialog.getByRole("button", { name: "Pause" }).click();
    await detail.getByRole("button", { name: "Resume" }).waitFor();
    await eventually(async () =>
      expect((await world.get("checkout")).metadata.annotations).toMatchObject({ "evenkeel.io/paused": "true" }),
    );
    await next.getByText("evenkeel.io/paused").waitFor();
    expect(complaints).toEqual([]);
    await opened.close();
  }, 60_000);
});
