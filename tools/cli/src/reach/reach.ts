import { readFile } from "node:fs/promises";
import { connectKube, type KubeClient, kubeErrors, services } from "@evenkeel/kube";
import { CodedError, explain, type SettingsOf } from "@evenkeel/runtime";
import { BadAnswer, NotInstalled, WrongUsage } from "../errors.ts";
import type { Registration } from "../services/registration.ts";
import type { reachSettings } from "../settings.ts";
import type { Session } from "../verb.ts";
import { AddressConnection, isLoopback } from "./address-connection.ts";
import type { Connection } from "./connection.ts";
import { ProxiedConnection, type ServicePlace } from "./proxied-connection.ts";
import { type ProcessStatus, ServiceClient } from "./service-client.ts";

export type ReachSettings = SettingsOf<typeof reachSettings>;

/** A service that answers. */
export interface ReachedService {
  readonly name: string;
  readonly client: ServiceClient;
  readonly status: ProcessStatus;
  /** Absent for a service that this program does not know. */
  readonly registration: Registration | undefined;
  /** Its Service; absent with --address. */
  readonly servicePlace?: ServicePlace;
}

/** A service that does not answer. */
export interface MissedService {
  /** Its address if the name is unknown. */
  readonly name: string;
  readonly place: string;
  readonly error: unknown;
  /** False if the cluster has no such Service. That is not an error: not every cluster needs all services. */
  readonly installed: boolean;
  readonly registration: Registration | undefined;
  readonly servicePlace?: ServicePlace;
}

export interface Services {
  readonly reached: readonly ReachedService[];
  readonly missed: readonly MissedService[];
}

interface Route {
  readonly client: ServiceClient;
  readonly registration: Registration | undefined;
  readonly servicePlace?: ServicePlace;
  /** Whether the Services of the cluster were listed and this one was not among them. */
  readonly unlisted?: boolean;
}

/** The charts set this label on every Service of the project. */
const PART_OF = "app.kubernetes.io/part-of=evenkeel";

/** The connections to the services that a command line selects, until they are closed. */
export class Reach implements AsyncDisposable {
  readonly #session: Session;
  readonly #settings: ReachSettings;
  readonly #kube: KubeClient | undefined;
  #routes: readonly Route[] = [];

  constructor(session: Session, settings: ReachSettings) {
    this.#session = session;
    this.#settings = settings;
    if (settings.address === undefined) this.#kube = openKube(session, settings);
  }

  /** Asks each service for its name. Fails only if none can be reached, for example without a usable kubeconfig. */
  async services(): Promise<Services> {
    this.#routes = await this.#open();
    const asked = await Promise.all(this.#routes.map((route) => this.#ask(route)));
    const reached = asked.flatMap((answer) => ("client" in answer ? [answer] : []));
    const missed = asked.flatMap((answer) => ("error" in answer ? [answer] : []));
    return { reached: reached.filter(({ name }) => this.#settings.service?.includes(name) ?? true), missed };
  }

  /** The namespace of the kubeconfig, as kubectl takes it; `default` without a kubeconfig. */
  async namespace(): Promise<string> {
    return (await this.#kube?.namespace()) ?? "default";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.#routes) await client.close();
    await this.#kube?.stop();
  }

  async #open(): Promise<readonly Route[]> {
    const { env, clock, signal, registrations } = this.#session;
    const { address = [], service: named, deadline } = this.#settings;
    const client = (connection: Connection) => new ServiceClient({ connection, clock, deadline, signal });
    const kube = this.#kube;
    if (kube === undefined) {
      const token = await tokenOf(this.#settings);
      return address.map((url) => ({
        client: client(new AddressConnection(url, env, token)),
        registration: undefined,
      }));
    }
    const wanted = chosen(registrations, named);
    await kube.namespace();
    const found = await this.#installed(kube);
    return wanted.flatMap((registration) => {
      const { place, name } = registration;
      const listed = found?.get(name) ?? [];
      const { serviceNamespace: namespace = place.namespace } = this.#settings;
      const unlisted = found !== undefined && listed.length === 0;
      return (listed.length > 0 ? listed : [{ ...place, namespace }]).map((servicePlace) => {
        const connection = new ProxiedConnection({ kube, place: servicePlace, deadline });
        return { client: client(connection), registration, servicePlace, unlisted };
      });
    });
  }

  /**
   * The Services that the charts created, by the names of the services: a release may be in any namespace. Undefined if
   * the user may not list Services or the API server does not answer: services are then expected where their charts
   * install them by default.
   */
  async #installed(kube: KubeClient): Promise<ReadonlyMap<string, readonly ServicePlace[]> | undefined> {
    const { serviceNamespace, deadline } = this.#settings;
    const { registrations, signal } = this.#session;
    const within = serviceNamespace === undefined ? {} : { namespace: serviceNamespace };
    const found = new Map<string, readonly ServicePlace[]>();
    try {
      const { items } = await kube.resource(services).list({ ...within, labelSelector: PART_OF, signal, deadline });
      for (const { metadata, spec } of items) {
        const known = registrations.find(({ place }) => place.service === metadata.name);
        if (known === undefined) continue;
        const port = spec?.ports?.find((one) => String(one.port) === known.place.port);
        const scheme = port?.appProtocol === "https" ? "https" : "http";
        const place = { ...known.place, namespace: metadata.namespace ?? "", scheme } as const;
        found.set(known.name, [...(found.get(known.name) ?? []), place]);
      }
      return found;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      return undefined;
    }
  }

  async #ask({ client, registration, servicePlace, unlisted = false }: Route): Promise<ReachedService | MissedService> {
    const found = servicePlace === undefined ? {} : { servicePlace };
    try {
      const status = await client.status();
      const { service: name } = status;
      if (registration !== undefined && name !== registration.name) {
        throw new BadAnswer({ place: client.place, fault: `${name} answers, not ${registration.name}` });
      }
      const known = registration ?? this.#session.registrations.find((one) => one.name === name);
      return { name, client, status, registration: known, ...found };
    } catch (reason) {
      // The API server refuses a user without the right before it checks whether the Service exists.
      const absent = unlisted && reason instanceof kubeErrors.Forbidden;
      const error = absent ? new NotInstalled({ place: client.place }) : reason;
      // A service that the user names must exist.
      const installed = !(error instanceof NotInstalled) || this.#settings.service !== undefined;
      return {
        name: registration?.name ?? client.place,
        place: client.place,
        error,
        installed,
        registration,
        ...found,
      };
    }
  }
}

/** The token for addresses. It is never sent unencrypted over a network. */
async function tokenOf({ tokenFile, address = [] }: ReachSettings): Promise<string | undefined> {
  if (tokenFile === undefined) return undefined;
  const open = address.find(({ protocol, hostname }) => protocol === "http:" && !isLoopback(hostname));
  if (open !== undefined) throw new WrongUsage({ fault: `--token-file needs https, not ${open.origin}` });
  try {
    return (await readFile(tokenFile, "utf8")).trim();
  } catch (cause) {
    throw new WrongUsage({ fault: `cannot read ${tokenFile}: ${explain(cause)}` });
  }
}

/** The API server of the kubeconfig. */
export function openKube(session: Session, { kubeconfig, kubeContext, deadline }: ReachSettings): KubeClient {
  const { env, version, clock, random } = session;
  const limits = { kubeDeadline: deadline, kubeConnections: 4, kubeQps: 0, kubeBurst: 100 };
  const settings = { kubeconfig, kubeContext, ...limits };
  return connectKube({ settings, env, userAgent: `kubectl-evenkeel/${version}`, clock, random });
}

function chosen(registrations: readonly Registration[], named: readonly string[] | undefined): readonly Registration[] {
  const unknown = (named ?? []).filter((name) => !registrations.some((one) => one.name === name));
  if (unknown.length > 0) {
    const known = registrations.map(({ name }) => name).join(", ");
    throw new WrongUsage({ fault: `unknown service ${unknown.join(", ")}; use ${known}` });
  }
  return registrations.filter(({ name }) => named?.includes(name) ?? true);
}
