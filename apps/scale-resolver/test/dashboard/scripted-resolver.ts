import { dashboard, dashboardSettings } from "@evenkeel/dashboard";
import { RunningService } from "@evenkeel/dashboard/testing";
import { nameOfKey } from "@evenkeel/kube";
import {
  type Authorizer,
  decisionsService,
  type resolverV1,
  resolverV1 as v1,
  rpcErrors,
  rpcServer,
  rpcSettings,
} from "@evenkeel/rpc";
import { type Decider, runtimeSettings, type Snapshot, type Verdict } from "@evenkeel/runtime";
import { ACTIONS, REASONS } from "../../src/decide/index.ts";

export type Activity = resolverV1.DeepPartial<resolverV1.ServiceActivity>;
export type History = resolverV1.DeepPartial<resolverV1.HistoryResponse>;
export type Preview = resolverV1.DeepPartial<resolverV1.PreviewResponse>;
type Name = resolverV1.Service | undefined;

/** Its snapshot is its verdict: what is decided here is written down by the test. */
interface Script extends Snapshot {
  readonly verdict: Verdict;
}

const decider: Decider<Script> = { actions: ACTIONS, reasons: REASONS, decide: ({ verdict }) => verdict };

const definition = {
  name: "scale-resolver",
  summary: "scales idle services to zero and loses no request when they wake",
  version: "0.1.0",
  settings: { ...runtimeSettings, ...rpcSettings, ...dashboardSettings },
  metrics: {},
  decider,
};

/** Who may wake and pause: the holder of the token `captain`. */
const authorizer: Authorizer = {
  authorize: (token) => Promise.resolve({ allowed: token === "captain", ...(token !== "nobody" && { user: token }) }),
};

/** scale-resolver's doors with answers that the test writes: real gateway, real streams, no cluster behind. */
export class ScriptedResolver extends RunningService<typeof definition.settings, typeof decider> {
  readonly services = new Map<string, Activity>();
  readonly histories = new Map<string, History>();
  readonly previews = new Map<string, Preview>();
  /** The requests that change something. */
  readonly done: string[] = [];
  #news = Promise.withResolvers<undefined>();

  constructor(main: string, args: readonly string[] = []) {
    super(definition, ["--insecure", "--grpc-port=0", ...args]);
    const { service } = this;
    const rpc = rpcServer(service, "insecure", authorizer);
    rpc.add(decisionsService({ source: service.decisions.ring, recording: (id) => service.decisions.recording(id) }));
    const may = () => ({ verb: "patch", object: { group: "g", resource: "elastiservices", namespace: "", name: "" } });
    rpc.add({
      definition: v1.ResolverDefinition,
      implementation: this.#implementation(),
      access: { wake: may, pause: may, resume: may },
    });
    rpc.serveJson(service.admin.routes, { reads: "open", objects: [] });
    dashboard(service, main);
    service.open(rpc);
  }

  /** Says what a service is now. */
  set(key: string, activity: Activity): void {
    const { namespace = "", name } = nameOfKey(key);
    const known = this.services.get(key) ?? { elastiService: name, target: `Deployment/${name}` };
    this.services.set(key, { service: { namespace, name }, ...known, ...activity });
    this.#tell();
  }

  remove(key: string): void {
    this.services.delete(key);
    this.#tell();
  }

  decide(key: string, at: Date, verdict: Omit<Verdict, "object">): void {
    const { namespace = "", name } = nameOfKey(key);
    const object = { kind: "ElastiService", namespace, name };
    this.service.decisions.decide({ at: at.toISOString(), verdict: { ...verdict, object } });
  }

  #tell(): void {
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers();
  }

  #implementation(): resolverV1.ResolverServiceImplementation {
    const keyOf = (service: Name) => `${service?.namespace ?? ""}/${service?.name ?? ""}`;
    const setPaused = (service: Name, paused: boolean) => {
      this.done.push(`${paused ? "pause" : "resume"} ${keyOf(service)}`);
      this.set(keyOf(service), { paused });
      return Promise.resolve({});
    };
    return {
      activity: () => Promise.resolve({ services: [...this.services.values()] }),
      watch: (_request, { signal }) => this.#watch(signal),
      history: ({ service }) => {
        const history = this.histories.get(keyOf(service));
        if (!history) throw new rpcErrors.NotFound({ what: `history of ${keyOf(service)}` });
        return Promise.resolve(history);
      },
      preview: ({ service }) => {
        const preview = this.previews.get(keyOf(service));
        if (!preview) throw new rpcErrors.NotFound({ what: `preview of ${keyOf(service)}` });
        return Promise.resolve(preview);
      },
      wake: ({ service, reason }) => {
        this.done.push(`wake ${keyOf(service)}: ${reason}`);
        this.set(keyOf(service), { state: v1.State.STATE_WAKE, since: new Date().toISOString() });
        return Promise.resolve({ woken: true, state: v1.State.STATE_WAKE });
      },
      pause: ({ service }) => setPaused(service, true),
      resume: ({ service }) => setPaused(service, false),
    };
  }

  async *#watch(signal: AbortSignal): AsyncGenerator<resolverV1.DeepPartial<resolverV1.WatchResponse>> {
    const told = new Map<string, unknown>();
    const gone = new Promise((resolve) => signal.addEventListener("abort", resolve));
    while (!signal.aborted) {
      const news = this.#news.promise;
      for (const [key, service] of this.services) {
        if (told.get(key) === service) continue;
        told.set(key, service);
        yield { event: { $case: "service", value: service } };
      }
      for (const key of told.keys()) {
        if (this.services.has(key)) continue;
        told.delete(key);
        const { namespace = "", name } = nameOfKey(key);
        yield { event: { $case: "removed", value: { namespace, name } } };
      }
      await Promise.race([news, gone]);
    }
  }
}
