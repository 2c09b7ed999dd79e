import { configMaps } from "@evenkeel/kube";
import { evictionPlanners } from "@evenkeel/eviction-planner";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

const HARBOUR = { namespace: "default", name: "eviction-planner-harbour" };

/** Somebody changes a level, and eviction-planner sets it back. */
const story: Story = {
  service: "eviction-planner",
  about: "say here in one line what there is to see",
  open: (stage) => Promise.resolve(new Harbour(stage)),
};

export default story;

class Harbour implements Scene {
  readonly flags = ["--interval=1s"];
  readonly env = {};
  readonly controls: readonly Control[] = [
    {
      name: "edit",
      label: "Somebody changes the level",
      run: async () => {
        await this.#edit(9);
        return `somebody set the level of ${HARBOUR.name} to 9`;
      },
    },
  ];
  readonly checks: readonly Check[] = [
    {
      name: "eviction-planner sets the level that is asked for",
      act: () => this.#create(),
      outcome: () => this.#levelIs("5"),
    },
    {
      name: "a level that somebody changed is set back",
      act: () => this.#edit(9),
      outcome: () => this.#levelIs("5"),
    },
  ];
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  play(): () => void {
    void this.#create().catch((error: unknown) =>
      this.#stage.tell(`the EvictionPlanner was not created: ${String(error)}`),
    );
    return () => undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #create(): Promise<void> {
    const { kube } = this.#stage;
    await kube.resource(configMaps).create({ metadata: HARBOUR, data: { level: "7" } });
    const { group, version, kind } = evictionPlanners;
    const spec = { configMap: HARBOUR.name, level: 5 };
    await kube.resource(evictionPlanners).create({ apiVersion: `${group}/${version}`, kind, metadata: HARBOUR, spec });
  }

  async #edit(level: number): Promise<void> {
    const body = { data: { level: String(level) } };
    await this.#stage.kube.resource(configMaps).patch(HARBOUR, { type: "merge", body });
  }

  async #levelIs(wanted: string): Promise<void> {
    const { data } = await this.#stage.kube.resource(configMaps).get(HARBOUR);
    if (data?.["level"] !== wanted) throw new Error(`the level is ${data?.["level"] ?? "unknown"}, not ${wanted}`);
  }
}
