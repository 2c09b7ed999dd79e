import { expect, test } from "@jest/globals";
import { deploy, imageValues } from "./deploy.ts";

test.each([
  ["evenkeel/tide:1.2", ["tide.image.repository=evenkeel/tide", "tide.image.tag=1.2"]],
  ["registry:5000/tide", ["tide.image.repository=registry:5000/tide"]],
  ["registry:5000/tide:1", ["tide.image.repository=registry:5000/tide", "tide.image.tag=1"]],
])("an image %s is a repository and a tag", (image, values) => {
  expect(imageValues("tide", image)).toEqual(values);
});

const say = (): void => undefined;

test("an image without the name of its service is refused", async () => {
  await expect(deploy({ image: "evenkeel/tide:1", say })).rejects.toThrow("SERVICE");
});

test("an unknown service is refused, and the known ones are named", async () => {
  await expect(deploy({ service: "tide", say })).rejects.toThrow(/no service tide; .*scale-resolver/);
});
