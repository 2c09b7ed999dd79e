import { expect, test } from "@jest/globals";
import { type NameFacts, ownName } from "./own-name.ts";

const facts: NameFacts = { regions: [], clusterName: null, clusterUid: "u1", taken: [] };

test.each<[string, Partial<NameFacts>, string, string | null, string]>([
  ["is the region of all nodes", { regions: ["ap.tokyo", "ap.tokyo"] }, "ap-tokyo", "ap.tokyo", "Labelled"],
  ["is the region that most nodes have", { regions: ["a", "b", "b"] }, "b", "b", "SeveralRegions"],
  ["is the first by name of regions with equally many nodes", { regions: ["b", "a"] }, "a", "a", "SeveralRegions"],
  ["is the configured one without a label", { clusterName: "osaka" }, "osaka", null, "NoRegionLabel"],
  ["comes from the cluster's uid without either", {}, "cluster-u1", null, "NoRegionLabel"],
  ["gives way where it is taken", { regions: ["a"], taken: ["a"], clusterName: "b" }, "b", "a", "NameTaken"],
  ["is free though all are taken", { regions: ["a"], taken: ["a", "cluster-u1"] }, "cluster-u1-own", "a", "NameTaken"],
  ["is a valid name of an object", { regions: ["Tokyo_2/"] }, "tokyo-2", "Tokyo_2/", "Labelled"],
])("the own name %s", (_sentence, change, name, region, reason) => {
  expect(ownName({ ...facts, ...change })).toMatchObject({ name, region, reason });
});
