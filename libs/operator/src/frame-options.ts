import type {
  KeySource,
  KubeObject,
  ReadStore,
  ReflectorOptions,
  ReflectorTiming,
  ResourceTypeOf,
  Selection,
  StoreOptions,
} from "@evenkeel/kube";
import type { MetricTable } from "@evenkeel/metrics";
import type { Decider, Decisions, Environment, Service, ServiceSettings } from "@evenkeel/runtime";
import type { Reconciler } from "./reconciler.ts";
import type { OperatorSettings } from "./settings.ts";

/** A `Service` of the runtime whose table of settings begins with `operatorSettings`. */
export interface OperatedService extends Pick<
  Service<ServiceSettings, MetricTable, Decider>,
  "name" | "clock" | "log" | "registry" | "admin" | "use" | "open" | "electBy" | "lead" | "afterTerm"
> {
  readonly settings: OperatorSettings;
  readonly decisions: Pick<Decisions, "addSink" | "ring" | "recording" | "forget">;
}

export interface OperatorFrameOptions {
  readonly env: Environment;
  /** `import.meta.url` of the program that runs the service. */
  readonly main: string;
  /** Name of this replica, unique among the replicas; the host's unless told. */
  readonly instance?: string | undefined;
}

export interface ReflectOptions<T extends KubeObject, Index extends string> extends Omit<
  StoreOptions<T, Index>,
  "log"
> {
  /** What to reflect; all objects of the watched namespaces unless told. */
  readonly selection?: Selection;
  readonly timing?: Partial<ReflectorTiming>;
  /** As that of the reflector; called for each watched namespace. */
  readonly onFault?: ReflectorOptions<T>["onFault"];
  /** The service is ready without these objects, such as where it may not list them. */
  readonly optional?: boolean;
}

export interface ReconcileOptions<T extends KubeObject> {
  /** Name of the loop in the log. */
  readonly name: string;
  readonly type: ResourceTypeOf<T>;
  readonly store: Pick<ReadStore<T>, "get">;
  /** What names the objects to reconcile. */
  readonly sources: readonly KeySource[];
  readonly reconciler: Reconciler<T>;
  /** What this process knows better than the stored objects while it leads. */
  readonly board?: { clear(): void };
}
