import type { Duplex } from "node:stream";
import { MetricRegistry } from "@evenkeel/metrics";
import {
  type Clock,
  type Component,
  type Environment,
  type Logger,
  proxyFor,
  type SettingsOf,
} from "@evenkeel/runtime";
import { systemClock, TokenBucket } from "@evenkeel/runtime";
import { type Access, Credentials } from "./credentials.ts";
import { BadResponse, NotFound } from "../errors.ts";
import { Exchange } from "./exchange.ts";
import { type GivenTarget, targetOf } from "./given-target.ts";
import { kubeMetrics } from "./kube-metrics.ts";
import { readTarget, type TargetOptions } from "./kubeconfig.ts";
import type { KubeObject, ResourceType, ResourceTypeOf } from "../objects/object.ts";
import type { KubeRequest, KubeStream, ResourceOptions } from "./request.ts";
import type { CallOptions, Resource } from "../objects/resource.ts";
import { ResourceClient } from "./resource-client.ts";
import { rootPath } from "./resource-path.ts";
import type { kubeSettings } from "./settings.ts";
import { isObject } from "./status.ts";
import { Transport } from "./transport.ts";

export interface KubeOptions {
  readonly settings: SettingsOf<typeof kubeSettings>;
  /**
   * The API server, instead of a kubeconfig or a pod's service account. A function is called at most every ten seconds,
   * and when the server refuses what it gave last. If it throws a coded error, its last target stays in use.
   */
  readonly target?: GivenTarget | (() => GivenTarget | Promise<GivenTarget>);
  readonly env: Environment;
  /** The name of this process in the API server's audit log and in managedFields, such as `weight-rebalancer/1.0.0`. */
  readonly userAgent: string;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  readonly log?: Logger;
  readonly metrics?: MetricRegistry;
  /** Where a pod finds its token, certificate authority and namespace. */
  readonly serviceAccount?: string;
}

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  /** Such as `v1.36.3`. */
  readonly text: string;
}

/**
 * Connects to one API server. Nothing is read or sent before the first call or `start`, which fails with one clear line
 * if the kubeconfig is bad, the server does not respond or authentication fails.
 */
export function connectKube(options: KubeOptions): KubeClient {
  return new KubeClient(options);
}

export class KubeClient implements Component {
  readonly name = "kube";
  readonly #credentials: Credentials;
  readonly #transport: Transport;
  readonly #exchange: Exchange;

  constructor(options: KubeOptions) {
    const { settings, env, userAgent, clock = systemClock, random = Math.random, log } = options;
    const { kubeconfig, kubeContext: context } = settings;
    const { serviceAccount } = options;
    const { target: given } = options;
    const found: TargetOptions = { kubeconfig, context, env, serviceAccount };
    this.#credentials = new Credentials({
      clock,
      log,
      readTarget: async () => {
        if (given === undefined) return readTarget(found);
        return targetOf(typeof given === "function" ? await given() : given);
      },
    });
    this.#transport = new Transport(settings.kubeConnections, (server) => proxyFor(server, env));
    const rate = { perSecond: settings.kubeQps, burst: settings.kubeBurst };
    this.#exchange = new Exchange({
      clock,
      random,
      userAgent,
      credentials: this.#credentials,
      transport: this.#transport,
      metrics: (options.metrics ?? new MetricRegistry()).register(kubeMetrics),
      deadline: settings.kubeDeadline,
      limit: settings.kubeQps === 0 ? undefined : new TokenBucket(clock, rate),
    });
  }

  /** Checks the connection: reads the credentials and calls the server. */
  async start({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    await this.version({ signal });
  }

  stop(): Promise<void> {
    return this.#transport.close();
  }

  /** The namespace of the kubeconfig's context, or of the pod. */
  async namespace(): Promise<string | undefined> {
    return (await this.#credentials.access()).namespace;
  }

  /**
   * What this client connects and authenticates with at present, for another one that speaks to the same server. Read
   * it for each request: files, tokens and certificates that rotate change it within ten seconds. What is known is
   * returned at once.
   */
  access(): Access | Promise<Access> {
    return this.#credentials.access();
  }

  /** The objects of one type, custom or built in. */
  resource<T extends KubeObject>(type: ResourceTypeOf<T>, options: ResourceOptions = {}): Resource<T> {
    return new ResourceClient<T>(this.#exchange, type, options);
  }

  /** One response as JSON, for what no resource covers. */
  async request(request: KubeRequest): Promise<unknown> {
    return (await this.#exchange.call(request)).json;
  }

  /** A response that is read as it arrives: logs, proxied requests. `deadline` limits the time to its headers only. */
  stream(request: KubeRequest): Promise<KubeStream> {
    return this.#exchange.stream(request);
  }

  /** A connection that speaks another protocol than HTTP: exec, attach, port-forward. */
  upgrade(request: KubeRequest, protocol: string): Promise<Duplex> {
    return this.#exchange.upgrade(request, protocol);
  }

  async version(options: CallOptions = {}): Promise<ServerVersion> {
    const { json, call } = await this.#exchange.call({ ...options, path: "/version", verb: "get", what: "version" });
    const { major, minor, gitVersion } = isObject(json) ? json : {};
    // Some vendors write minors such as "31+".
    const numbers = [major, minor].map((part) => Number.parseInt(String(part), 10));
    if (typeof gitVersion !== "string" || numbers.some(Number.isNaN)) {
      throw new BadResponse({ call, fault: "it has no version" });
    }
    return { major: numbers[0] ?? 0, minor: numbers[1] ?? 0, text: gitVersion };
  }

  /** Whether the server has this type, in this version, now. */
  async serves(type: ResourceType, options: CallOptions = {}): Promise<boolean> {
    const path = rootPath(type);
    try {
      const list = await this.request({ ...options, path, verb: "get", what: `discovery of ${path}` });
      const resources: unknown = isObject(list) ? list["resources"] : undefined;
      return Array.isArray(resources) && resources.some((entry) => isObject(entry) && entry["name"] === type.plural);
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }
}
