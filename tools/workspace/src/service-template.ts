/** The files of a service that starts, serves its admin and health ports and decides, for now, to do nothing. */
export function serviceFiles(name: string): Record<string, string> {
  const definition = name.replaceAll(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase());
  return {
    "src/index.ts": `export { ${definition} } from "./definition.ts";\n`,
    "src/definition.ts": `import type { ServiceDefinition } from "@evenkeel/runtime";
import packageJson from "../package.json" with { type: "json" };
import { decider } from "./decide/decide.ts";
import { metrics } from "./metrics.ts";
import { settings } from "./settings.ts";

export const ${definition} = {
  name: "${name}",
  summary: "say here in one sentence what it keeps level",
  version: packageJson.version,
  settings,
  metrics,
  decider,
} satisfies ServiceDefinition<typeof settings, typeof metrics, typeof decider>;
`,
    "src/settings.ts": `import { runtimeSettings, setting } from "@evenkeel/runtime";

/** Every flag and environment variable of ${name}. */
export const settings = {
  ...runtimeSettings,
  interval: setting.duration({ default: "30s", help: "Time between two looks at the world" }),
};
`,
    "src/metrics.ts": `import { gauge } from "@evenkeel/metrics";

/** Every metric of ${name}. */
export const metrics = {
  lastLook: gauge("${name.replaceAll("-", "_")}_last_look_timestamp_seconds", "When the world was last looked at.", {}),
};
`,
    "src/observe/observe.ts": `import type { WorldSnapshot } from "../decide/decide.ts";

/** Turns the outside world into plain data. */
export function observe(now: number): WorldSnapshot {
  return { at: new Date(now).toISOString(), load: null };
}
`,
    "src/decide/decide.ts": `import type { Decider, Snapshot, Verdict } from "@evenkeel/runtime";

export interface WorldSnapshot extends Snapshot {
  /** Null while it is unknown. */
  readonly load: number | null;
}

export type Action = "hold";
export type Reason = "NoData" | "Level";

function decide({ load }: WorldSnapshot): Verdict<Action, Reason, number | null> {
  const about = { object: { kind: "World", name: "world" }, action: "hold", before: load, after: load } as const;
  if (load === null) return { ...about, reason: "NoData", message: "The load is unknown; nothing is changed" };
  return { ...about, reason: "Level", message: \`Load \${load} needs no change\` };
}

export const decider: Decider<WorldSnapshot, Action, Reason, number | null> = {
  actions: ["hold"],
  reasons: ["NoData", "Level"],
  decide,
};
`,
    "src/decide/decide.test.ts": `import { expect, test } from "@jest/globals";
import { decider } from "./decide.ts";

test("holds while the load is unknown", () => {
  expect(decider.decide({ at: "2026-01-01T00:00:00Z", load: null })).toMatchObject({ action: "hold", reason: "NoData" });
});
`,
    "src/main.ts": `import { main } from "@evenkeel/runtime";
import { ${definition} } from "./definition.ts";
import { observe } from "./observe/observe.ts";

await main(${definition}, process, (service) => {
  const { settings, metrics, decisions, clock } = service;

  service.leadEvery("level", settings.interval, () => {
    metrics.lastLook.set({}, clock.now() / 1000);
    decisions.decide(observe(clock.now()));
    return Promise.resolve();
  });
});
`,
  };
}
