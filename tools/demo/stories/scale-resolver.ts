import { events } from "@evenkeel/kube";
import type { Scene, Stage, Story } from "../src/story.ts";

/** scale-resolver on the demo's cluster as it is. */
const story: Story = {
  service: "scale-resolver",
  about: "say here in one line what there is to see",
  open: (stage) => Promise.resolve(new Cluster(stage)),
};

export default story;

class Cluster implements Scene {
  readonly flags = ["--interval=2s"];
  readonly env = {};
  readonly controls = [];
  readonly checks = [{ name: "scale-resolver decides and says why", outcome: () => this.#decided() }];
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  play(): () => void {
    return () => undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #decided(): Promise<void> {
    const { items } = await this.#stage.kube.resource(events).list({ namespace: "default" });
    const told = items.filter(({ reportingController }) => reportingController === "evenkeel.io/scale-resolver");
    if (told.length === 0) throw new Error(`none of ${items.length} Events is by scale-resolver`);
  }
}
