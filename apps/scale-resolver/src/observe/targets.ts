import {
  type Deployment,
  deployments,
  type KubeClient,
  type Service,
  type StatefulSet,
  statefulSets,
} from "@evenkeel/kube";
import { type Clock, explain } from "@evenkeel/runtime";
import { BadTarget, TargetKindUnknown, TargetNotFound, TargetNotScalable } from "../act/errors.ts";
import type { Binding, TargetRef } from "../binding.ts";
import { tcpPorts } from "../wake-ports.ts";
import type { Keda } from "./keda.ts";

/** What is known of the workload of an ElastiService. */
export interface TargetFindings {
  /** Why it can never be scaled, for a person. Absent: it can, or that is not known. */
  readonly fault?: string;
  /** How its pods stop; null if not known. */
  readonly stop: PodStop | null;
  /** Why its autoscaler would undo a wake, for a person; null if it would not, or if that is not known. */
  readonly autoscalerFault: string | null;
}

/** The settings of a pod template for the time between SIGTERM and the end. */
export interface PodStop {
  /** Whether all containers that serve have a preStop hook. */
  readonly hasPreStop: boolean;
  readonly graceSeconds: number;
}

export interface TargetsOptions {
  readonly kube: Pick<KubeClient, "resource">;
  /** Reads the replicas of a workload. Fails with the reason if it cannot be scaled. */
  readonly replicas: (namespace: string, target: TargetRef, signal: AbortSignal) => Promise<number>;
  readonly keda: Pick<Keda, "fault">;
  readonly clock: Clock;
  /** Milliseconds after which a workload with a fault is read again. */
  readonly interval: number;
}

const UNKNOWN: TargetFindings = { stop: null, autoscalerFault: null };
/** Milliseconds after which a workload without a fault is read again. */
const REMEMBERED = 600_000;
/** The default of Kubernetes. */
const DEFAULT_GRACE = 30;

const FAULTS = [BadTarget, TargetKindUnknown, TargetNotFound, TargetNotScalable];

/**
 * Checks the workloads of ElastiServices before they have to be scaled, so that a wrong name is reported at once and
 * not when a request waits.
 */
export class Targets {
  readonly #options: TargetsOptions;
  /** By uid of the ElastiService. */
  readonly #seen = new Map<
    string,
    { readonly generation: number; readonly until: number; readonly findings: TargetFindings }
  >();

  constructor(options: TargetsOptions) {
    this.#options = options;
  }

  /** The last result. */
  known({ uid, generation }: Binding): TargetFindings {
    const seen = this.#seen.get(uid);
    return seen?.generation === generation ? seen.findings : UNKNOWN;
  }

  /** Reads the workload, unless it was read recently. A failed read is not a fault. */
  async read(binding: Binding, service: Service, signal: AbortSignal): Promise<TargetFindings> {
    const { clock, interval } = this.#options;
    const { uid, generation } = binding;
    const seen = this.#seen.get(uid);
    if (seen?.generation === generation && clock.monotonic() < seen.until) return seen.findings;
    const findings = await this.#load(binding, service, signal);
    if (!findings) return this.known(binding);
    const until = clock.monotonic() + (findings.fault === undefined ? REMEMBERED : interval);
    this.#seen.set(uid, { generation, until, findings });
    return findings;
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
  }

  clear(): void {
    this.#seen.clear();
  }

  async #load(binding: Binding, service: Service, signal: AbortSignal): Promise<TargetFindings | undefined> {
    const { namespace, target, autoscaler, scaledObject } = binding;
    try {
      await this.#options.replicas(namespace, target, signal);
    } catch (error) {
      signal.throwIfAborted();
      return FAULTS.some((fault) => error instanceof fault) ? { ...UNKNOWN, fault: explain(error) } : undefined;
    }
    // A ScaledObject that this program creates has a trigger that is active after a wake.
    const isForeign = autoscaler?.type === "keda" && !scaledObject;
    const autoscalerFault = isForeign ? await this.#options.keda.fault(namespace, autoscaler.name, signal) : null;
    return { stop: await this.#stop(namespace, target, service, signal), autoscalerFault };
  }

  /** The right to read the workload may be missing, and other kinds have other templates. */
  async #stop(
    namespace: string,
    { apiVersion, kind, name }: TargetRef,
    service: Service,
    signal: AbortSignal,
  ): Promise<PodStop | null> {
    const type = apiVersion === "apps/v1" ? TEMPLATED[kind] : undefined;
    if (!type) return null;
    try {
      return stopOf(await this.#options.kube.resource(type).get({ namespace, name }, { signal }), service);
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }
}

const TEMPLATED: Readonly<Record<string, typeof deployments | typeof statefulSets>> = {
  Deployment: deployments,
  StatefulSet: statefulSets,
};

/** Containers with a port that the Service targets serve; if none declares one, any may. */
function stopOf({ spec }: Deployment | StatefulSet, service: Service): PodStop {
  const { containers = [], terminationGracePeriodSeconds = DEFAULT_GRACE } = spec?.template.spec ?? {};
  const targeted = tcpPorts(service).map(({ port, targetPort = port }) => targetPort);
  const serving = containers.filter(({ ports = [] }) =>
    ports.some(({ name = "", containerPort }) => targeted.includes(name) || targeted.includes(containerPort)),
  );
  return {
    hasPreStop: (serving.length > 0 ? serving : containers).every(({ lifecycle }) => lifecycle?.preStop !== undefined),
    graceSeconds: terminationGracePeriodSeconds,
  };
}
