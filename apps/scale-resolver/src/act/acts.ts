import { endpointSlices, type KubeClient, type Reconcile, type Resource, services } from "@evenkeel/kube";
import type { Clock, Component, Logger } from "@evenkeel/runtime";
import { serviceKey } from "../binding.ts";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import type { ClusterView } from "../observe/cluster-view.ts";
import { Mesh } from "../observe/mesh.ts";
import { Standby } from "../observe/standby.ts";
import type { Autoscalers } from "./autoscalers.ts";
import { Selections } from "./children.ts";
import { ClosePaths } from "./close-paths.ts";
import { Executor, type ExecutorOptions } from "./executor.ts";
import { PathSlices } from "./path-slices.ts";
import type { Statuses } from "./paused-scaled-objects.ts";
import { OriginalLeftovers } from "./release/original-leftovers.ts";
import { ReleaseService } from "./release/release-service.ts";
import { RestoreWorkload } from "./release/restore-workload.ts";
import { repointPaths } from "./repoint-paths.ts";
import { RouteSwitch } from "./routes/route-switch.ts";
import { ScaledObjects } from "./scaled-objects.ts";
import type { Scales } from "./scales.ts";

export interface ActsOptions extends Pick<ExecutorOptions, "resolvers" | "activity" | "hasWoken" | "woken"> {
  readonly settings: {
    readonly settle: number;
    readonly shutdownDelay: number;
    readonly dryRun: boolean;
    readonly podIp: readonly string[];
    readonly pathTargetRef: boolean | undefined;
    readonly standby: boolean | undefined;
    readonly insecure: boolean;
    readonly kedaAuthentication: string | undefined;
  };
  /** The Service of the resolver, if it is known. */
  readonly own: { readonly namespace: string; readonly name: string } | undefined;
  /** Address of the resolver's gRPC server for KEDA. */
  readonly grpcAddress: string;
  readonly kube: KubeClient;
  readonly view: ClusterView;
  readonly scales: Scales;
  readonly autoscalers: Autoscalers;
  readonly elastiServices: Resource<StoredElastiService>;
  readonly statuses: Statuses;
  /** Why KubeElasti's operator counts as running; undefined if it does not run. */
  readonly original: (signal: AbortSignal) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly use: (component: Component) => void;
}

/** What changes the cluster. */
export interface Acts {
  readonly path: PathSlices;
  readonly executor: Executor;
  readonly releaseService: ReleaseService;
  readonly selections: Selections;
  readonly repoint: Reconcile;
}

/** The port of the resolver's own Service. The Service forwards it to `--port`. */
const RESOLVER_PORT = 8012;

/** Builds what redirects Services, scales their workloads, and restores both. */
export function acts(options: ActsOptions): Acts {
  const { settings, own, kube, view, scales, autoscalers, statuses, original, resolvers, clock, log } = options;
  const { settle, dryRun, podIp: podIps } = settings;
  const { objects, bindings, pods, terminatingResolvers } = view;
  const slices = kube.resource(endpointSlices);
  const mesh = new Mesh({ kube, clock, targetRef: settings.pathTargetRef });
  const path = new PathSlices({ slices, seen: view.slices, namesPod: mesh.namesPod.bind(mesh) });
  const standby = new Standby({ kube, clock, standby: settings.standby });
  const routes = new RouteSwitch({ kube, resolver: own && { ...own, port: RESOLVER_PORT } });
  const shared = {
    ...{ path, routes, statuses, clock },
    leftovers: new OriginalLeftovers({
      ...{ slices, services: kube.resource(services), sliceStore: view.slices, serviceStore: view.services },
    }),
    restoreWorkload: new RestoreWorkload({ scales, autoscalers }),
  };
  const wait = Math.max(0, settings.shutdownDelay - settle);
  options.use(new ClosePaths({ ...shared, objects, services: view.services, pods, resolvers, podIps, log, wait }));
  return {
    path,
    executor: new Executor({
      ...{ ...options, ...shared, terminatingResolvers },
      mayStandBy: standby.isPossible.bind(standby),
      scaledObjects: new ScaledObjects({
        ...{ kube, clock, address: options.grpcAddress },
        ...{ tls: !settings.insecure, authentication: settings.kedaAuthentication },
      }),
    }),
    releaseService: new ReleaseService({
      ...{ ...shared, elastiServices: options.elastiServices, bindings, pods, original, settle, dryRun },
    }),
    selections: new Selections({
      ...{ kube, store: objects, services: view.services, own: own && serviceKey(own.namespace, own.name) },
    }),
    repoint: repointPaths({
      ...{ objects, bindings, services: view.services, path, resolvers, terminatingResolvers, original },
    }),
  };
}
