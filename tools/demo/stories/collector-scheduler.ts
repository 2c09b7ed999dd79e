import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { collectorLoadBalancers } from "@evenkeel/collector-scheduler";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

const BUOYS = { namespace: "default", name: "buoys" };
const JOB = "buoys";
const TARGETS = 40;
/** Milliseconds between two polls of a collector. */
const POLL = 1000;

/** Collectors share forty targets. More collectors come, and each gets its share without a gap. */
const story: Story = {
  service: "collector-scheduler",
  about:
    "Collectors share forty scrape targets. When one joins it gets its share, and the others keep the rest of theirs",
  open: async (stage) => new Buoys(stage, await freePort()),
};

export default story;

class Buoys implements Scene {
  readonly flags: readonly string[];
  readonly env = {};
  readonly controls: readonly Control[] = [
    {
      name: "more",
      label: "One more collector",
      run: async () => `${await this.#scale(1)} collectors are wanted`,
    },
    {
      name: "fewer",
      label: "One collector less",
      run: async () => `${await this.#scale(-1)} collectors are wanted`,
    },
  ];
  readonly checks: readonly Check[] = [
    {
      name: "two collectors share all targets, and each target has one collector",
      act: () => this.#create(),
      outcome: () => this.#shared(2),
    },
    {
      name: "a third collector gets its share, and then each target has one collector again",
      act: async () => {
        await this.#scale(1);
      },
      outcome: () => this.#shared(3),
    },
  ];
  readonly #stage: Stage;
  readonly #port: number;
  readonly #polls: NodeJS.Timeout;
  #replicas = 0;

  constructor(stage: Stage, port: number) {
    this.#stage = stage;
    this.#port = port;
    this.flags = [`--target-port=${port}`, "--interval=1s"];
    // Nothing runs in the pods of collectors, so this asks in their names.
    this.#polls = setInterval(() => void this.#targets().catch(() => undefined), POLL);
  }

  play(): () => void {
    void this.#create().catch((error: unknown) =>
      this.#stage.tell(`the CollectorLoadBalancer was not created: ${String(error)}`),
    );
    return () => undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#polls);
    return Promise.resolve();
  }

  async #create(): Promise<void> {
    const targets = Array.from({ length: TARGETS }, (_, index) => `192.0.2.${index + 1}:9100`);
    const jobs = [{ job_name: JOB, scrape_interval: "1s", static_configs: [{ targets }] }];
    const { group, version, kind } = collectorLoadBalancers;
    this.#replicas = 2;
    await this.#stage.kube.resource(collectorLoadBalancers).create({
      apiVersion: `${group}/${version}`,
      kind,
      metadata: BUOYS,
      spec: {
        replicas: this.#replicas,
        collectorImage: "images.invalid/collector:1",
        placement: { cooldown: "1s" },
        collectorConfig: JSON.stringify({ receivers: { prometheus: { config: { scrape_configs: jobs } } } }),
      },
    });
  }

  /** Resolves with the number of collectors that are wanted then. */
  async #scale(by: number): Promise<number> {
    this.#replicas = Math.max(1, this.#replicas + by);
    const body = { spec: { replicas: this.#replicas } };
    await this.#stage.kube.resource(collectorLoadBalancers).patch(BUOYS, { type: "merge", body });
    return this.#replicas;
  }

  async #shared(count: number): Promise<void> {
    const own = (await this.#targets()).slice(0, count);
    const all = own.flat();
    if (own.some((targets) => targets.length === 0) || all.length !== TARGETS || new Set(all).size !== TARGETS)
      throw new Error(`collectors have ${own.map(({ length }) => length).join(", ")} of ${TARGETS} targets`);
  }

  /** The addresses that each collector is told. */
  #targets(): Promise<readonly (readonly string[])[]> {
    const base = `http://127.0.0.1:${this.#port}/collectors/${BUOYS.namespace}/${BUOYS.name}/jobs/${JOB}/targets`;
    const ask = async (_: unknown, index: number) => {
      const headers = { "x-prometheus-refresh-interval-seconds": "1" };
      const answer = await fetch(`${base}?collector_id=${BUOYS.name}-collector-${index}`, { headers });
      if (!answer.ok) throw new Error((await answer.text()).trim());
      return ((await answer.json()) as readonly { readonly targets: readonly string[] }[]).flatMap(
        (each) => each.targets,
      );
    };
    return Promise.all(Array.from({ length: this.#replicas + 1 }, ask));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
