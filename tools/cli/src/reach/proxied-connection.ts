import type { Readable } from "node:stream";
import { type KubeClient, kubeErrors, Refusal } from "@evenkeel/kube";
import { NotInstalled, Unanswered } from "../errors.ts";
import type { Connection, ServiceRequest } from "./connection.ts";
import { serviceRefusal } from "./service-refusal.ts";

/** A Service of the cluster, and which of its ports is the admin port: a number or a name. */
export interface ServicePlace {
  readonly namespace: string;
  readonly service: string;
  readonly port: string;
  /** The protocol of the port; HTTP unless the Service says HTTPS. */
  readonly scheme?: "http" | "https";
}

/** The name of a Service's port for services/proxy. RBAC rules can grant it by this name. */
export function proxiedName({ scheme = "http", service, port }: ServicePlace): string {
  return `${scheme}:${service}:${port}`;
}

export interface ProxiedOptions {
  readonly kube: Pick<KubeClient, "stream">;
  readonly place: ServicePlace;
  /** Milliseconds until the API server must have answered. */
  readonly deadline: number;
}

/**
 * A service that is reached through services/proxy of the API server. The user needs the right to `get` it, and to
 * `create` it for requests by POST.
 */
export class ProxiedConnection implements Connection {
  readonly place: string;
  readonly #options: ProxiedOptions;
  readonly #path: string;

  constructor(options: ProxiedOptions) {
    const { namespace, service } = options.place;
    this.#options = options;
    this.place = `${namespace}/${service}`;
    const name = proxiedName(options.place).split(":").map(encodeURIComponent).join(":");
    this.#path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${name}/proxy`;
  }

  async send(request: ServiceRequest): Promise<Readable> {
    const { method = "GET", path, query = {}, body, accept = "application/json", signal } = request;
    const { kube, deadline } = this.#options;
    try {
      const answer = await kube.stream({
        ...{ method, path: `${this.#path}${path}`, query, headers: { accept }, signal, deadline },
        ...(body === undefined ? {} : { body }),
        what: `service ${this.place}`,
      });
      return answer.body;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  close(): void {
    // The client is shared; its owner closes it.
  }

  /** Distinguishes an error of the service from one of the API server, which answers with a Status. */
  #explained(error: unknown): unknown {
    if (!(error instanceof Refusal)) return error;
    if (error.text !== undefined) return serviceRefusal(this.place, error.status, error.text);
    if (error.code === kubeErrors.NotFound.entry.code) return new NotInstalled({ place: this.place });
    if (error.status < 500) return error;
    return new Unanswered({ place: this.place, fault: error.message }, { cause: error.cause });
  }
}
