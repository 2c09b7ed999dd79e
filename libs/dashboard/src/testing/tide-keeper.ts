import { type Decider, type Decision, runtimeSettings, setting, type Snapshot } from "@evenkeel/runtime";
import { dashboard } from "../dashboard.ts";
import { dashboardSettings } from "../settings.ts";
import { RunningService } from "./running-service.ts";
import { watchRoute } from "./watch-route.ts";

export interface TideSnapshot extends Snapshot {
  readonly tank: string;
  /** Per cent; null is unknown. */
  readonly level: number | null;
}

const decider = {
  actions: ["hold", "pump"],
  reasons: ["Level", "Low", "NoData"],
  decide: ({ tank, level }: TideSnapshot) => {
    const object = { kind: "Tank", namespace: "ship", name: tank };
    if (level === null) {
      return { object, action: "hold", reason: "NoData", before: null, after: null, message: `${tank}: no reading` };
    }
    const low = level < 50;
    return {
      object,
      action: low ? "pump" : "hold",
      reason: low ? "Low" : "Level",
      before: level,
      after: low ? 50 : level,
      message: low ? `${tank} stands at ${level} %, 50 % is wanted` : `${tank} stands at ${level} %, which is enough`,
    };
  },
} satisfies Decider<TideSnapshot>;

const definition = {
  name: "tide-keeper",
  summary: "Keeps tanks level for tests of the dashboard",
  version: "1.2.3",
  settings: {
    ...runtimeSettings,
    ...dashboardSettings,
    interval: setting.duration({ default: "30s", help: "Time between two soundings" }),
    radioToken: setting.text({ optional: true, secret: true, help: "Token of the radio" }),
  },
  metrics: {},
  decider,
};

/**
 * A service with a dashboard and without a view. `main` is where its sources would be; the built files are found from
 * it. With `streams` false it is one without a JSON gateway.
 */
export class TideKeeper extends RunningService<typeof definition.settings, typeof decider> {
  constructor(main: string, args: readonly string[] = [], streams = true) {
    super(definition, args);
    const { admin, decisions } = this.service;
    if (streams) watchRoute(admin.routes, decisions.ring, this.stopping);
    dashboard(this.service, main);
  }

  decide(tank: string, level: number | null, at = new Date()): Decision {
    return this.service.decisions.decide({ at: at.toISOString(), tank, level });
  }
}
