import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { World, worldParts } from "./index.ts";

/** Stands in for a service: says what it was started with, and that it is ready. */
const PROGRAM = `
  console.log(JSON.stringify({ phase: "ready", flags: process.argv.slice(2), given: process.env.GIVEN }));
  setInterval(() => undefined, 1000);`;

test("a world starts the program with the flags that it needs, and leaves nothing when it ends", async () => {
  const parts = await worldParts({ service: "tide", main: import.meta.filename, kinds: ["rebalances"] });
  const main = join(parts.folder, "main.mjs");
  writeFileSync(main, PROGRAM);
  const world = new World({ ...parts, options: { ...parts.options, main, flags: { settle: "200ms" } } });
  const ends: string[] = [];
  world.use({ stop: () => Promise.resolve(void ends.push("first")) });
  world.use({ stop: () => Promise.resolve(void ends.push("second")) });
  const service = world.serve(["--state=redis://127.0.0.1:1", "--insecure"], { env: { GIVEN: "yes" } });
  const { flags, given } = (await service.phase("ready")) as { flags: string[]; given: string };

  expect(given).toBe("yes");
  expect(flags).toEqual(
    expect.arrayContaining([
      "--state=redis://127.0.0.1:1",
      "--insecure",
      "--settle=200ms",
      "--grpc-port=0",
      `--kubeconfig=${world.kubeconfig}`,
    ]),
  );
  expect(flags.filter((flag) => flag.startsWith("--state") || flag.startsWith("--insecure"))).toHaveLength(2);
  const { url } = world.api;
  expect(readFileSync(world.kubeconfig, "utf8")).toContain(url);

  await world[Symbol.asyncDispose]();
  expect(ends).toEqual(["second", "first"]);
  expect((await service.exit).signal).toBe("SIGKILL");
  expect(existsSync(world.folder)).toBe(false);
  await expect(fetch(url)).rejects.toThrow();
});

test("a world without the program of its service says at once how to make it", async () => {
  const main = join(import.meta.dirname, "dist/main.mjs");
  await expect(worldParts({ service: "tide", main })).rejects.toThrow("nx run tide:bundle");
});
