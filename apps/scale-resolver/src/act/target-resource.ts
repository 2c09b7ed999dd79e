import { type CallOptions, type KubeClient, kubeErrors, type KubeObject, type ResourceTypeOf } from "@evenkeel/kube";
import type { TargetRef } from "../binding.ts";
import { BadTarget, TargetKindUnknown, TargetNotScalable } from "./errors.ts";

export type TargetType = ResourceTypeOf<KubeObject>;

/** The part of the client that is used. */
export type Discovery = Pick<KubeClient, "request">;

/** Kinds that need no discovery, so that waking them takes one call. */
const usual = [
  { group: "apps", kind: "Deployment", plural: "deployments" },
  { group: "apps", kind: "StatefulSet", plural: "statefulsets" },
  { group: "argoproj.io", kind: "Rollout", plural: "rollouts" },
] as const;

/**
 * Valid API versions. The text comes from users and becomes part of a path that is requested with this service's
 * rights.
 */
const API_VERSION = /^(?:([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\/)?([a-z0-9]+)$/;

/**
 * The resource type of targets by kind. The kind may also be the plural, as in older manifests. Other kinds are
 * discovered once; a failure is not remembered.
 */
export class TargetResources {
  readonly #kube: Discovery;
  readonly #found = new Map<string, TargetType>();

  constructor(kube: Discovery) {
    this.#kube = kube;
  }

  /** The type if it is known without a call. */
  known(target: TargetRef): TargetType | undefined {
    const { group, version } = split(target);
    const { kind } = target;
    const found = usual.find((type) => type.group === group && (type.kind === kind || type.plural === kind));
    return found === undefined ? this.#found.get(keyOf(target)) : { ...found, version, namespaced: true };
  }

  /** The type, discovered if it is not known. */
  async find(target: TargetRef, options: CallOptions = {}): Promise<TargetType> {
    return this.known(target) ?? this.discover(target, options);
  }

  /** Discovers the type. Fails with the reason if the target cannot be scaled. */
  async discover(target: TargetRef, options: CallOptions = {}): Promise<TargetType> {
    this.#found.delete(keyOf(target));
    const { apiVersion, kind } = target;
    const { group, version } = split(target);
    const resources = await this.#resources(target, options);
    const own = resources.find(({ name, kind: of }) => !name.includes("/") && (of === kind || name === kind));
    if (own === undefined) throw new TargetKindUnknown({ apiVersion, kind });
    if (!own.namespaced) throw new TargetNotScalable({ apiVersion, kind, why: "the kind is not namespaced" });
    if (!resources.some(({ name }) => name === `${own.name}/scale`)) {
      throw new TargetNotScalable({ apiVersion, kind, why: "it has no scale subresource" });
    }
    const type = { group, version, kind: own.kind, plural: own.name, namespaced: true };
    this.#found.set(keyOf(target), type);
    return type;
  }

  async #resources({ apiVersion, kind }: TargetRef, options: CallOptions): Promise<readonly ApiResource[]> {
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    try {
      const list = await this.#kube.request({ ...options, path, verb: "get", what: `discovery of ${path}` });
      return apiResources(list);
    } catch (error) {
      if (error instanceof kubeErrors.NotFound) throw new TargetKindUnknown({ apiVersion, kind }, { cause: error });
      throw error;
    }
  }
}

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

function apiResources(list: unknown): readonly ApiResource[] {
  const { resources } = list as { readonly resources?: unknown };
  return Array.isArray(resources) ? resources.filter(isApiResource) : [];
}

function isApiResource(entry: unknown): entry is ApiResource {
  const { name, kind, namespaced } = (entry ?? {}) as Partial<Record<keyof ApiResource, unknown>>;
  return typeof name === "string" && typeof kind === "string" && typeof namespaced === "boolean";
}

function split({ apiVersion, kind }: TargetRef): { readonly group: string; readonly version: string } {
  const [whole, group = "", version = ""] = API_VERSION.exec(apiVersion) ?? [];
  if (whole === undefined || group.includes("..")) throw new BadTarget({ apiVersion, kind });
  return { group, version };
}

function keyOf({ apiVersion, kind }: TargetRef): string {
  return `${apiVersion} ${kind}`;
}
