import { expect, test } from "@jest/globals";
import { parsePeers } from "./peers/peer-list.ts";
import { dashboardContradictions } from "./settings.ts";

test("a peer's dashboard is at its address unless a link says otherwise", () => {
  const { peers, faults } = parsePeers(
    ["planner=http://planner:8080/", "proxy=https://proxy.example/base"],
    ["proxy=https://ui.example/proxy/"],
  );
  expect(faults).toEqual([]);
  expect(peers).toEqual([
    { name: "planner", url: "http://planner:8080", dashboard: "http://planner:8080/dashboard/" },
    { name: "proxy", url: "https://proxy.example/base", dashboard: "https://ui.example/proxy/" },
  ]);
});

test.each([
  [["planner"], [], "name=url"],
  [["=http://a"], [], "name=url"],
  [["a=ftp://b"], [], "name=url"],
  [["a=javascript:alert(1)"], [], "name=url"],
  [["a=http://me:secret@b"], [], "without a user"],
  [["a=http://b?x=1"], [], "without a user, a query"],
  [["a=http://b", "a=http://c"], [], "names a twice"],
  [["a=http://b"], ["c=http://d"], "names c, which is not in --dashboard-peers"],
  [Array.from({ length: 51 }, (_, index) => `p${index}=http://b`), [], "at most 50"],
])("refuses %j with links %j", (dashboardPeers, dashboardLinks, fault) => {
  const faults = dashboardContradictions({ dashboardPeers, dashboardLinks, dashboardPeerDeadline: 1 });
  expect(faults).toEqual([expect.stringContaining(fault)]);
  expect(faults.join()).not.toContain("secret");
});
