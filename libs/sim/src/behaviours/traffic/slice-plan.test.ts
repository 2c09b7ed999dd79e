import { describe, expect, test } from "@jest/globals";
import { type Endpoint, planSlices, SLICE_SIZE } from "./slice-plan.ts";

const endpoints = (count: number, from = 0): Endpoint[] =>
  Array.from({ length: count }, (_, index) => ({ pod: String(from + index), fields: {} }));

describe("the plan of slices", () => {
  test("fills a slice before it makes another", () => {
    const { creates } = planSlices([], endpoints(250), false);
    expect(creates.map(({ length }) => length)).toEqual([SLICE_SIZE, SLICE_SIZE, 50]);
  });

  test("touches one slice for one pod", () => {
    const slices = [
      { name: "a", endpoints: endpoints(100) },
      { name: "b", endpoints: endpoints(100, 100) },
    ];
    const gone = planSlices(slices, endpoints(199, 1), false);
    expect([[...gone.updates.keys()], gone.creates, gone.deletes]).toEqual([["a"], [], []]);
    const come = planSlices(slices, endpoints(201), false);
    expect([[...come.updates.keys()], come.creates]).toEqual([[], [endpoints(1, 200)]]);
  });

  test("changes nothing where nothing changed", () => {
    const plan = planSlices([{ name: "a", endpoints: endpoints(3) }], endpoints(3), true);
    expect([plan.updates.size, plan.creates, plan.deletes]).toEqual([0, [], []]);
  });

  test("deletes what is empty, but for the last where one is to stay", () => {
    const slices = ["a", "b"].map((name, index) => ({ name, endpoints: endpoints(1, index) }));
    expect(planSlices(slices, [], false).deletes).toEqual(["a", "b"]);
    expect(planSlices(slices, [], true).deletes).toEqual(["b"]);
    expect(planSlices([], [], true).creates).toEqual([[]]);
  });
});
