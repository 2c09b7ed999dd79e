import { expect, test } from "@jest/globals";
import { node } from "../testing/shapes.ts";
import { ImageLocality } from "./image-locality.ts";

const MEBIBYTE = 2 ** 20;
const image = (name: string, mebibytes: number) => ({ names: [name], sizeBytes: mebibytes * MEBIBYTE });

test("images on more nodes are worth more, and small ones nothing", () => {
  const web = image("web:1", 500);
  const nodes = [node("a", { images: [web, image("db:1", 800)] }), node("b", { images: [web] }), node("c"), node("d")];
  const locality = new ImageLocality(nodes);
  // Half of the nodes have the image: (250 - 23) / (1000 - 23) of 100 points.
  expect([...(locality.scores(["web:1"], 1) ?? [])]).toEqual([23, 23, 0, 0]);
  expect([...(locality.scores(["web:1", "db:1"], 2) ?? [])]).toEqual([21, 11, 0, 0]);
  expect(locality.scores(["unknown:1"], 1)).toBeNull();
});
