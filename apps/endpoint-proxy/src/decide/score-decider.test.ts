import { expect, test } from "@jest/globals";
import { scoreDecider } from "./score-decider.ts";
import type { ClusterReading, PeerReading, PeerScore, ScoreSnapshot } from "./snapshot.ts";

const room = { cpu: 4000, memory: 2 ** 30, pods: 110 };
const node = {
  name: "a",
  watts: null,
  marginalWatts: null,
  fault: null,
  schedulable: true,
  free: room,
  whole: room,
  capacity: 4,
};
const score: PeerScore = {
  ...{ source: "watts", score: 412, cost: 0, nodes: [], failedNodes: 0, free: room, whole: room },
  ...{ marginalWatts: null, serverVersion: null, age: 1000 },
};
const peer = (fault: PeerReading["fault"], said: PeerScore | null = null): Partial<ScoreSnapshot> => ({
  peer: { answered: fault?.reason !== "Unreachable", fault, score: said },
});
const cluster = (reading: Partial<ClusterReading>): Partial<ScoreSnapshot> => ({
  cluster: { source: "watts", nodes: [], fault: null, ...reading },
});
const duplicate = { reason: "ListedTwice", message: "" } as const;

test.each<[string, Partial<ScoreSnapshot>, string, string, string | null]>([
  ["includes a cluster with room", cluster({ source: "capacity", nodes: [node] }), "include", "Scored", "Ready"],
  ["includes a cluster with watts", cluster({ nodes: [{ ...node, watts: 3.14 }] }), "include", "Scored", "Ready"],
  ["knows no watts if all nodes failed", cluster({ nodes: [node] }), "exclude", "NoPrediction", "Unscored"],
  ["knows no capacity without nodes", cluster({ source: "capacity" }), "exclude", "NoNodes", "Unscored"],
  ["includes a peer with a score", peer(null, score), "include", "Scored", "Ready"],
  ["excludes a peer with an old score", peer(null, { ...score, age: 90_001 }), "exclude", "StaleScore", "Unscored"],
  ["excludes a peer without a score", peer({ reason: "NoScore", message: "" }), "exclude", "NoScore", "Unscored"],
  ["excludes a peer that refuses", peer({ reason: "Refused", message: "" }), "exclude", "Refused", "Unscored"],
  ["excludes a dead peer", peer({ reason: "Unreachable", message: "" }), "exclude", "Unreachable", "Unreachable"],
  ["excludes a loop", peer({ reason: "Duplicate", message: "" }), "exclude", "ProxyLoop", "Duplicate"],
  ["excludes a duplicate", { ...peer(null, score), duplicate }, "exclude", "ListedTwice", "Duplicate"],
  ["excludes a paused member", { ...peer(null, score), paused: true }, "exclude", "Paused", "Paused"],
  ["excludes what it cannot read", { invalid: "no endpoint" }, "exclude", "InvalidSpec", "Unscored"],
  ["holds while the original runs", { ...peer(null, score), original: "pod-1" }, "hold", "OriginalRuns", null],
])("%s", (_sentence, change, action, reason, after) => {
  const snapshot: ScoreSnapshot = {
    ...{ at: "2026-11-01T00:00:00Z", namespace: "wao-system", name: "tokyo", before: null, paused: false },
    ...{ original: null, invalid: null, duplicate: null, cost: null, limit: 90_000, cluster: null, peer: null },
    ...change,
  };
  expect(scoreDecider.decide(snapshot)).toMatchObject({ action, reason, after });
});
