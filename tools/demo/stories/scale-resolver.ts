import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  deployments,
  type EndpointSlice,
  endpointSlices,
  type KubeObject,
  type ResourceTypeOf,
  services,
} from "@evenkeel/kube";
import { type PodProgram, type Prometheus, type RunningPod, startPrometheus } from "@evenkeel/sim";
import type { Check, Control, Scene, Stage, Story } from "../src/story.ts";

interface StoredElastiService extends KubeObject {
  readonly spec?: unknown;
  readonly status?: { readonly state?: string; readonly replicas?: number };
}

const elastiServices: ResourceTypeOf<StoredElastiService> = {
  ...{ group: "elasti.truefoundry.com", version: "v1alpha1", kind: "ElastiService", plural: "elastiservices" },
  namespaced: true,
};

const NAME = "reports";
const REPORTS = { namespace: "default", name: NAME };
const PORT = 8080;
const QUERY = `sum(rate(http_requests_total{service="${NAME}"}[3s]))`;
/** Seconds, as the ElastiService has them. */
const COOLDOWN = 3;
const QUIET = 2;
/** Whether Prometheus itself was up all the time. */
const UPTIME = `min_over_time((max(up{container="prometheus"}) or vector(0))[${COOLDOWN}s:])`;
/** Milliseconds. */
const WINDOW = 3000;
const BETWEEN_REQUESTS = 200;
const SLOWNESS = 1500;
const BURST = 200;

/** A service of reports, with few requests by day, none by night, and then those of a whole office at once. */
const story: Story = {
  service: "scale-resolver",
  about: `The service "${NAME}" is scaled to zero while it gets no requests, and its requests are held while it wakes; none is lost`,
  open: async (stage) => {
    const reports = new Reports(stage, await startPrometheus());
    await reports.build();
    return reports;
  },
};

export default story;

interface Answer {
  readonly status: number;
  readonly milliseconds: number;
}

class Reports implements Scene {
  readonly flags: readonly string[];
  readonly env = {};
  readonly controls: readonly Control[];
  readonly checks: readonly Check[];
  readonly #stage: Stage;
  readonly #prometheus: Prometheus;
  readonly #address: string;
  readonly #pods = new Set<ReportsPod>();
  /** When requests were sent, the last few seconds of them. */
  readonly #sent: number[] = [];
  /** What became of requests of the steady traffic since it began. */
  #answers: Answer[] = [];
  /** Ends the story that runs by itself. */
  readonly #byItself = new AbortController();
  #traffic: NodeJS.Timeout | undefined;
  #arrived = 0;

  constructor(stage: Stage, prometheus: Prometheus) {
    const { addresses } = stage.harbour;
    this.#stage = stage;
    this.#prometheus = prometheus;
    this.#address = addresses.of(NAME);
    this.flags = [
      "--port=0",
      `--port-range=${addresses.ports}`,
      "--trigger-interval=1s",
      "--settle=1s",
      "--warm-up=0s",
    ];
    prometheus.answer(QUERY, () => ({ kind: "vector", samples: [{ metric: {}, value: this.#rate }] }));
    prometheus.answer(UPTIME, () => ({ kind: "vector", samples: [{ metric: {}, value: 1 }] }));
    this.controls = this.#buttons();
    this.checks = this.#steps();
  }

  /** A Deployment, and the Service before it as clients reach it. */
  async build(): Promise<void> {
    const { kube, harbour } = this.#stage;
    harbour.programs.set(NAME, (pod) => this.#run(pod));
    const labels = { app: NAME };
    const containers = [{ name: "main", image: `images.invalid/${NAME}:1`, ports: [{ containerPort: PORT }] }];
    await kube.resource(deployments).create({
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { ...REPORTS, labels } },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
    await kube.resource(services).create({
      ...{ apiVersion: "v1", kind: "Service", metadata: { ...REPORTS, labels } },
      spec: {
        ...{ clusterIP: this.#address, ipFamilies: ["IPv4"], selector: labels },
        ports: [{ name: "http", port: PORT, targetPort: PORT }],
      },
    });
    const at = { host: this.#address, port: PORT };
    await harbour.plane.reach({ node: "office", namespace: "default", service: NAME, port: PORT, at });
  }

  /** Some traffic, then none until it sleeps, then everybody at once. Whoever presses a button has it from there. */
  play(): () => void {
    const { signal } = this.#byItself;
    void this.#create()
      .then(() => this.#days(signal))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#stage.tell(`the story of ${NAME} broke off: ${String(error)}`);
      });
    return () => this.#byItself.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#byItself.abort();
    this.#drive(false);
    for (const pod of this.#pods) pod.kill();
    await this.#prometheus.stop();
  }

  /** Requests a second. */
  get #rate(): number {
    const since = performance.now() - WINDOW;
    while ((this.#sent[0] ?? Infinity) < since) this.#sent.shift();
    return this.#sent.length / (WINDOW / 1000);
  }

  #buttons(): readonly Control[] {
    const byHand =
      (run: () => Promise<string> | string): Control["run"] =>
      () => {
        this.#byItself.abort();
        return run();
      };
    return [
      { name: "burst", label: `Burst of ${BURST} requests`, run: byHand(() => this.#burst(BURST)) },
      {
        name: "traffic",
        label: "Traffic on / off",
        run: byHand(() => {
          this.#drive(this.#traffic === undefined);
          return this.#traffic
            ? `${NAME} gets ${1000 / BETWEEN_REQUESTS} requests a second`
            : `${NAME} gets no requests`;
        }),
      },
      {
        name: "scale",
        label: "A user scales it to zero",
        run: byHand(async () => {
          await this.#scaleToZero();
          return `a user set ${NAME} to 0 replicas`;
        }),
      },
      {
        name: "slow",
        label: "API server slow (20 s)",
        run: byHand(() => {
          setTimeout(this.#slowDown(), 20_000).unref();
          return `the API server takes ${SLOWNESS / 1000} s more to scale ${NAME}, for 20 s`;
        }),
      },
    ];
  }

  #steps(): readonly Check[] {
    const sleeps = (name: string, act?: Check["act"]): Check => ({
      name,
      ...(act && { act }),
      outcome: async () => {
        await this.#isIn("Zero");
        await this.#hasReplicas(0);
        if (this.#pods.size > 0) throw new Error(`${this.#pods.size} pods still run`);
      },
    });
    return [
      sleeps("a service without requests is scaled to zero", () => this.#create()),
      {
        name: `a burst of ${BURST} requests wakes it: each is answered, and reaches a pod once`,
        act: async () => {
          this.#arrived = 0;
          this.#stage.tell(await this.#burst(BURST));
        },
        outcome: async () => {
          if (this.#arrived !== BURST) throw new Error(`${this.#arrived} requests reached a pod, not ${BURST}`);
          await this.#hasReplicas(1);
        },
      },
      {
        name: "under traffic it stays up, and requests bypass the resolver",
        act: () => this.#drive(true),
        outcome: async () => {
          await this.#isIn("Serve");
          const endpoints = (await this.#slices()).flatMap((slice) => slice.endpoints ?? []);
          if (endpoints.some(({ conditions }) => conditions?.ready)) throw new Error("the resolver is in the path");
        },
      },
      {
        name: "when a user scales it to zero under traffic, it is woken and no request is lost",
        act: async () => {
          await this.#scaleToZero();
          await this.#answered(30);
        },
        outcome: async () => {
          await this.#hasReplicas(1);
          await this.#isIn("Serve");
          await this.#answered(10);
        },
      },
      sleeps("it sleeps again when the traffic ends", () => this.#drive(false)),
      {
        name: "while the API server is slow a wake takes longer, and no request is lost",
        act: async () => {
          const speedUp = this.#slowDown();
          this.#stage.tell(await this.#burst(50).finally(speedUp));
        },
        outcome: () => this.#hasReplicas(1),
      },
      sleeps("it sleeps for the third time"),
      {
        name: "when its ElastiService is deleted it is woken, and nothing is left of the resolver",
        act: async () => {
          await this.#stage.kube.resource(elastiServices).delete(REPORTS);
        },
        outcome: async () => {
          const { items } = await this.#stage.kube.resource(elastiServices).list({ namespace: "default" });
          if (items.some(({ metadata }) => metadata.name === NAME)) throw new Error("the ElastiService is still there");
          await this.#hasReplicas(1);
          if ((await this.#slices()).length > 0) throw new Error("the resolver has an EndpointSlice");
          const { status } = await this.#ask();
          if (status !== 200) throw new Error(`a request is answered with ${status}`);
        },
      },
    ];
  }

  async #days(signal: AbortSignal): Promise<never> {
    const { tell } = this.#stage;
    for (;;) {
      this.#drive(true);
      tell(`${NAME} gets ${1000 / BETWEEN_REQUESTS} requests a second`);
      await sleep(15_000, undefined, { signal });
      this.#drive(false);
      tell(`${NAME} gets no requests any more`);
      await sleep(25_000, undefined, { signal });
      tell(await this.#burst(BURST));
    }
  }

  #drive(on: boolean): void {
    clearInterval(this.#traffic);
    this.#answers = [];
    this.#traffic = on ? setInterval(() => void this.#send(), BETWEEN_REQUESTS) : undefined;
  }

  async #send(): Promise<void> {
    const answers = this.#answers;
    const answer = await this.#ask();
    answers.push(answer);
    if (answers.length > 10_000) answers.shift();
    if (answer.status !== 200) this.#stage.tell(`a request for ${NAME} was answered with ${answer.status}`);
  }

  /** Waits for so many more answers of the steady traffic. Fails if one of all since it began is not 200. */
  async #answered(more: number): Promise<void> {
    const answers = this.#answers;
    const until = answers.length + more;
    while (answers.length < until) await sleep(50);
    const lost = answers.filter(({ status }) => status !== 200).length;
    if (lost > 0) throw new Error(`${lost} of ${answers.length} requests were lost`);
  }

  async #burst(count: number): Promise<string> {
    const answers = await Promise.all(Array.from({ length: count }, () => this.#ask()));
    const lost = answers.filter(({ status }) => status !== 200);
    if (lost.length > 0) throw new Error(`${lost.length} of ${count} requests were lost: ${lost[0]?.status ?? ""}`);
    const slowest = Math.max(...answers.map(({ milliseconds }) => milliseconds));
    return `${count} requests for ${NAME} at once: all answered, the slowest after ${(slowest / 1000).toFixed(1)} s`;
  }

  /** As a client of the Service gets it. A status of 0 is a connection that broke. */
  #ask(): Promise<Answer> {
    const began = performance.now();
    this.#sent.push(began);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const end = (status: number) => resolve({ status, milliseconds: performance.now() - began });
    request({ host: this.#address, port: PORT, path: "/today", agent: false }, (answer: IncomingMessage) => {
      answer
        .resume()
        .on("end", () => end(answer.statusCode ?? 0))
        .on("error", () => end(0));
    })
      .on("error", () => end(0))
      .end();
    return promise;
  }

  #run(pod: RunningPod): PodProgram {
    const run = new ReportsPod(
      pod,
      () => this.#arrived++,
      () => this.#pods.delete(run),
    );
    this.#pods.add(run);
    return run;
  }

  async #create(): Promise<void> {
    const metadata = { query: QUERY, serverAddress: this.#prometheus.url, threshold: "0.5" };
    await this.#stage.kube.resource(elastiServices).create({
      ...{ apiVersion: "elasti.truefoundry.com/v1alpha1", kind: "ElastiService", metadata: REPORTS },
      spec: {
        service: NAME,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: NAME },
        minTargetReplicas: 1,
        cooldownPeriod: COOLDOWN,
        quietPeriod: QUIET,
        triggers: [{ type: "prometheus", metadata }],
      },
    });
  }

  async #scaleToZero(): Promise<void> {
    const patch = { type: "merge", body: { spec: { replicas: 0 } } } as const;
    await this.#stage.kube.resource(deployments).scale.patch(REPORTS, patch);
  }

  /** Only what scales Deployments is slow: the rest of the harbour belongs to others too. Gives what ends it. */
  #slowDown(): () => void {
    const fault = { kind: "latency", milliseconds: SLOWNESS } as const;
    return this.#stage.harbour.faults.add({ verb: "patch", resource: "deployments", fault });
  }

  async #isIn(state: string): Promise<void> {
    const { status } = await this.#stage.kube.resource(elastiServices).get(REPORTS);
    if (status?.state !== state) throw new Error(`the state is ${status?.state ?? "unknown"}, not ${state}`);
  }

  async #hasReplicas(expected: number): Promise<void> {
    const { spec } = await this.#stage.kube.resource(deployments).scale.get(REPORTS);
    const replicas = spec.replicas ?? 0;
    if (replicas !== expected) throw new Error(`there are ${replicas} replicas, not ${expected}`);
  }

  /** Those by which the resolver redirects the Service or stands by. */
  async #slices(): Promise<readonly EndpointSlice[]> {
    const labelSelector = `kubernetes.io/service-name=${NAME},endpointslice.kubernetes.io/managed-by=scale-resolver.evenkeel.io`;
    return (await this.#stage.kube.resource(endpointSlices).list({ namespace: "default", labelSelector })).items;
  }
}

/** A pod that answers each request after a moment's work. */
class ReportsPod implements PodProgram {
  readonly #server: Server;
  readonly #gone: () => void;

  constructor({ name, address }: RunningPod, arrived: () => void, gone: () => void) {
    this.#gone = gone;
    this.#server = createServer((asked, answer) => {
      // The resolver's own question, whether it is in the path, may come to a pod.
      if (asked.url !== "*") arrived();
      setTimeout(() => answer.end(`the report, by ${name}\n`), 20);
    });
    this.#server.on("error", () => undefined).listen(PORT, address);
  }

  kill(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#gone();
  }
}
