import { dirname } from "node:path";
import type { Service } from "@evenkeel/runtime";
import { pump } from "./act/pump.ts";
import type { trimDecider } from "./decide/trim.ts";
import type { metrics } from "./metrics.ts";
import { readLevel } from "./observe/level-file.ts";
import { Lookout } from "./observe/lookout.ts";
import { harbourServer } from "./serve/harbour-server.ts";
import type { settings } from "./settings.ts";

type Ballast = Pick<
  Service<typeof settings, typeof metrics, typeof trimDecider>,
  "settings" | "metrics" | "decisions" | "clock" | "log" | "use" | "open" | "leadEvery"
>;

/** What ballast consists of, wherever it runs. */
export function composeBallast(service: Ballast): void {
  const { settings, metrics, decisions, clock, log } = service;
  const { levelFile, target, tolerance, interval, listenHost, port } = settings;

  service.use(new Lookout(dirname(levelFile)));
  service.open(harbourServer(clock, log, listenHost, port));
  service.leadEvery("trim", interval, async () => {
    const level = await readLevel(levelFile);
    metrics.level.set({}, level ?? NaN);
    const at = new Date(clock.now()).toISOString();
    await pump(levelFile, decisions.decide({ at, tank: "main", level, target, tolerance }), metrics);
  });
}
