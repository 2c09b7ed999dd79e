import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ConfigMap,
  configMaps,
  connectKube,
  type KubeClient,
  namespaces,
  PAUSED,
  type ObjectName,
  type ReadStore,
  specChanges,
} from "@evenkeel/kube";
import { gauge, perObject } from "@evenkeel/metrics";
import {
  readSettings,
  Service,
  splitCommandLine,
  systemClock,
  type Decider,
  type Decision,
  type Snapshot,
} from "@evenkeel/runtime";
import { eventually, FakeHost } from "@evenkeel/runtime/testing";
import { type ApiServer, startApiServer } from "@evenkeel/sim";
import { ADMIN, kubeconfigFor } from "@evenkeel/testkit";
import { jest } from "@jest/globals";
import {
  ObjectBoard,
  type ObjectContext,
  objectsService,
  type ObjectView,
  objectView,
  operatorContradictions,
  operatorFrame,
  operatorSettings,
  type Reconciler,
} from "../src/index.ts";

interface LevelSnapshot extends Snapshot {
  readonly namespace: string;
  readonly name: string;
  readonly level: number;
}

const labels = { namespace: perObject, name: perObject };

const levelService = {
  name: "level-service",
  summary: "Says how high ConfigMaps stand",
  version: "1.0.0",
  settings: operatorSettings({ kind: "ConfigMaps", workers: 4 }),
  metrics: {
    level: gauge("level", "Level.", labels, { leaderOnly: true }),
    seen: gauge("seen", "Seen.", labels),
  },
  decider: {
    actions: ["hold"],
    reasons: ["Level"],
    decide: ({ namespace, name, level }: LevelSnapshot) => ({
      object: { kind: "ConfigMap", namespace, name },
      action: "hold" as const,
      reason: "Level" as const,
      before: level,
      after: level,
      message: `The level is ${level}`,
    }),
  } satisfies Decider<LevelSnapshot, "hold", "Level", number>,
  contradictions: operatorContradictions,
};

type LevelService = Service<
  (typeof levelService)["settings"],
  (typeof levelService)["metrics"],
  (typeof levelService)["decider"]
>;

/** Decides about each ConfigMap, and remembers what it was asked. */
class LevelReconciler implements Reconciler<ConfigMap> {
  readonly forgotten: (ObjectName & { readonly uid: string })[] = [];
  terms = 0;
  /** The fencing token of the present term. */
  token: bigint | undefined;
  readonly #service: LevelService;
  readonly #board: Board;

  constructor(service: LevelService, board: Board) {
    this.#service = service;
    this.#board = board;
  }

  reconcile(object: ConfigMap, { term }: ObjectContext): Promise<undefined> {
    this.token = term.fencingToken;
    const { namespace = "", name = "" } = object.metadata;
    const { decisions, metrics, clock } = this.#service;
    const level = Number(object.data?.["level"]);
    const at = new Date(clock.now()).toISOString();
    const decision = decisions.decide({ at, namespace, name, level });
    metrics.level.set({ namespace, name }, level);
    metrics.seen.set({ namespace, name }, 1);
    this.#board.show(object, decision);
    return Promise.resolve(undefined);
  }

  async failed(): Promise<void> {}

  forget(name: ObjectName, uid: string): void {
    this.forgotten.push({ ...name, uid });
  }

  endTerm(): void {
    this.terms += 1;
  }
}

type Board = ObjectBoard<ConfigMap, Decision, ObjectView>;

function composed(flags: readonly string[], { host } = new FakeHost()): LevelService {
  const reading = readSettings(levelService.settings, splitCommandLine(levelService.settings, flags).flags, {});
  if (!reading.ok) throw new Error(reading.faults.join("\n"));
  return new Service(levelService, reading, host, systemClock);
}

/** A cluster in this process. */
export class World implements AsyncDisposable {
  readonly api: ApiServer;
  readonly kube: KubeClient;
  readonly #folder: string;
  readonly #started: StartedService[] = [];

  private constructor(api: ApiServer, folder: string) {
    this.api = api;
    this.#folder = folder;
    const limits = { kubeDeadline: 5000, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
    const settings = { kubeconfig: join(folder, "kubeconfig"), kubeContext: undefined, ...limits };
    this.kube = connectKube({ settings, env: {}, userAgent: "tests" });
  }

  static async start(): Promise<World> {
    const api = await startApiServer({ users: [ADMIN] });
    const folder = await mkdtemp(join(tmpdir(), "operator-"));
    await writeFile(join(folder, "kubeconfig"), kubeconfigFor(api.url));
    return new World(api, folder);
  }

  async namespace(name: string): Promise<void> {
    await this.kube.resource(namespaces).create({ metadata: { name } });
  }

  async put(namespace: string, name: string, level: number): Promise<ConfigMap> {
    return this.kube.resource(configMaps).create({ metadata: { namespace, name }, data: { level: String(level) } });
  }

  /** Runs the service in this process until it is ready. */
  async serve(...flags: readonly string[]): Promise<StartedService> {
    const service = await StartedService.start(this.#folder, flags);
    this.#started.push(service);
    return service;
  }

  /** The names of the parts that the frame itself adds to a service, in the order in which they start. */
  parts(...flags: readonly string[]): readonly string[] {
    const service = composed([`--kubeconfig=${join(this.#folder, "kubeconfig")}`, "--state=sqlite::memory:", ...flags]);
    const use = jest.spyOn(service, "use");
    operatorFrame(service, { env: {}, main: import.meta.url });
    return use.mock.calls.map(([{ name }]) => name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#started) await service.stop();
    await this.kube.stop();
    await this.api.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The service as its main would run it, on a host that the test plays. */
export class StartedService {
  readonly host = new FakeHost();
  readonly reconciler: LevelReconciler;
  readonly board: Board;
  readonly store: ReadStore<ConfigMap>;
  readonly service: LevelService;
  readonly exit: Promise<number>;

  private constructor(flags: readonly string[]) {
    this.service = composed(flags, this.host);
    const frame = operatorFrame(this.service, { env: {}, main: import.meta.url, instance: "replica-0" });
    this.store = frame.reflect(configMaps);
    frame.announce({ isWarning: () => false });
    this.board = new ObjectBoard({ store: this.store, view: objectView });
    this.reconciler = new LevelReconciler(this.service, this.board);
    frame.reconcile({
      name: "level",
      type: configMaps,
      store: this.store,
      sources: [specChanges(this.store, [PAUSED])],
      reconciler: this.reconciler,
      board: this.board,
    });
    const resource = frame.kube.resource(configMaps);
    frame.serve(objectsService({ type: configMaps, resource, board: this.board }));
    frame.open();
    this.exit = this.service.run();
  }

  static async start(folder: string, flags: readonly string[]): Promise<StartedService> {
    const service = new StartedService([
      ...[`--kubeconfig=${join(folder, "kubeconfig")}`, "--state=sqlite::memory:", "--insecure", "--grpc-port=0"],
      ...["--listen-host=127.0.0.1", "--admin-port=0", "--health-port=0", "--shutdown-delay=0s"],
      ...["--lease-duration=1s", "--lease-renew-deadline=800ms", "--lease-retry-period=100ms"],
      ...flags,
    ]);
    await eventually(() => service.phases.includes("ready"));
    return service;
  }

  /** The value that was last decided about an object, where this process leads. */
  decided(key: string): unknown {
    return this.board.get(key)?.value;
  }

  /** Calls a method by its JSON API. */
  async call(
    method: string,
    request: object,
    token?: string,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const headers = {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const url = `http://127.0.0.1:${this.service.admin.port}/api/v1/${method}`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(request) });
    return { status: answer.status, body: await answer.json() };
  }

  get phases(): readonly unknown[] {
    return this.host.lines.flatMap(({ phase }) => (phase === undefined ? [] : [phase]));
  }

  /** The values of a metric, by the names of its objects. */
  async metric(name: string): Promise<Readonly<Record<string, number>>> {
    const lines = (await this.service.registry.text()).matchAll(
      new RegExp(`^${name}\\{.*name="(\\w+)"\\} (\\d+)$`, "gm"),
    );
    return Object.fromEntries([...lines].map(([, object = "", value]) => [object, Number(value)] as const));
  }

  async stop(): Promise<number> {
    this.host.emit("SIGTERM", "SIGTERM");
    return this.exit;
  }
}
