import { request } from "node:https";
import { eventually } from "@evenkeel/runtime/testing";
import { ADMIN } from "@evenkeel/testkit";
import { openPage } from "@evenkeel/testkit/browser";
import { describeInBrowser } from "@evenkeel/testkit/jest";
import { expect, test } from "@jest/globals";
import { ProxyCluster } from "./proxy-cluster.ts";
import { DEPLOYMENTS, deployment } from "./three-clusters.ts";

describeInBrowser("the dashboard", (browser) => {
  test("shows clusters with score and room, workloads over them, and writes with split and reason", async () => {
    await using tokyo = await ProxyCluster.start("tokyo");
    await using osaka = await ProxyCluster.start("osaka");
    tokyo.adopt("osaka", osaka);
    osaka.adopt("tokyo", tokyo);
    // The administrator is of system:masters.
    osaka.run("--trusted-peers=tokyo");
    const service = tokyo.run();
    const address = await service.url("admin", "/dashboard/");
    const { page, complaints, ...opened } = await openPage(browser(), new URL(address).origin);
    await page.goto(address);
    for (const name of ["tokyo", "osaka"]) {
      await page.locator(".object-list a", { hasText: name }).getByText("250 ‰").waitFor();
    }
    await page.locator(".stat", { hasText: "CPU requested" }).getByText("25.0 %").waitFor();
    expect(await page.getByText("Recent writes").count()).toBe(0);

    const users = await service.url("gateway", "");
    await eventually(async () => expect(await write(tokyo, users, DEPLOYMENTS, deployment("web", 6))).toBe(201));
    await page.getByRole("heading", { name: "Recent writes" }).waitFor();
    const row = page.locator(".writes tr", { hasText: "web" });
    await row.getByText("Divided").waitFor();
    await row.getByRole("img", { name: "web: tokyo 3, osaka 3" }).waitFor();
    await row.getByText("web: 6 replicas: tokyo 3").waitFor();
    await page.getByRole("heading", { name: "Workloads over clusters" }).waitFor();
    const bars = page.locator(".workload-bars li", { hasText: "web" });
    await bars.getByRole("img", { name: "web: tokyo 3, osaka 3" }).waitFor();
    await bars.getByText("0/6").waitFor();
    await page.locator(".legend").getByText("osaka").waitFor();
    expect(complaints).toEqual([]);
    await opened.close();
  }, 120_000);
});

/** A POST of the administrator at the port for users. */
function write({ authority }: ProxyCluster, users: string, path: string, body: object): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${ADMIN.token}`, "content-type": "application/json" };
  const url = new URL(path, users.replace("http:", "https:"));
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, ca: authority.cert }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}
