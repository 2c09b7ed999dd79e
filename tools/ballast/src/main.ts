import { dirname } from "node:path";
import { main } from "@evenkeel/runtime";
import { pump } from "./act/pump.ts";
import { ballast } from "./definition.ts";
import { readLevel } from "./observe/level-file.ts";
import { Lookout } from "./observe/lookout.ts";
import { harbourDoor } from "./serve/harbour-door.ts";

await main(ballast, process, (service) => {
  const { settings, metrics, decisions, clock } = service;
  const { levelFile, target, tolerance, interval, listenHost, port } = settings;

  service.use(new Lookout(dirname(levelFile)));
  service.open(harbourDoor(clock, listenHost, port));
  service.leadEvery("trim", interval, async () => {
    const level = await readLevel(levelFile);
    metrics.level.set({}, level ?? NaN);
    const at = new Date(clock.now()).toISOString();
    await pump(levelFile, decisions.decide({ at, tank: "main", level, target, tolerance }), metrics);
  });
});
