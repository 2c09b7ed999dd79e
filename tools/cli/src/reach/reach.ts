import { connectKube, type KubeClient, kubeErrors, services } from "@evenkeel/kube";
import { CodedError, type SettingsOf } from "@evenkeel/runtime";
import { BadAnswer, NotInstalled, WrongUsage } from "../errors.ts";
import type { Registration } from "../services/registration.ts";
import type { reachSettings } from "../settings.ts";
import type { Session } from "../verb.ts";
import { AddressConnection } from "./address-connection.ts";
import type { Connection } from "./connection.ts";
import { ProxiedConnection, type ServicePlace } from "./proxied-connection.ts";
import { type ProcessStatus, ServiceClient } from "./service-client.ts";

export type ReachSettings = SettingsOf<typeof reachSettings>;

/** A service that answers. */
export interface ReachedService {
  readonly name: string;
  readonly client: ServiceClient;
  readonly status: ProcessStatus;
  /** Absent for one that this command line does not know. */
  readonly registration: Registration | undefined;
  /** The Service that led to it; absent for one that was reached by its address. */
  readonly servicePlace?: ServicePlace;
}

/** A service that does not. */
export interface MissedService {
  /** Its place where the name is not known. */
  readonly name: string;
  readonly place: string;
  readonly error: unknown;
  /** False where the cluster has no such Service, which need not be a fault: nobody needs all of them. */
  readonly installed: boolean;
  readonly registration: Registration | undefined;
  readonly servicePlace?: ServicePlace;
}

export interface Services {
  readonly reached: readonly ReachedService[];
  readonly missed: readonly MissedService[];
}

interface Way {
  readonly client: ServiceClient;
  readonly registration: Registration | undefined;
  readonly servicePlace?: ServicePlace;
  /** That the cluster's Services were listed, and there was none for it. */
  readonly unlisted?: boolean;
}

/** What the charts label every Service of the project with. */
const PART_OF = "app.kubernetes.io/part-of=evenkeel";

/** The ways to the services that a command line means, until they are closed. */
export class Reach implements AsyncDisposable {
  readonly #session: Session;
  readonly #settings: ReachSettings;
  readonly #kube: KubeClient | undefined;
  #ways: readonly Way[] = [];

  constructor(session: Session, settings: ReachSettings) {
    this.#session = session;
    this.#settings = settings;
    if (settings.address === undefined) this.#kube = openKube(session, settings);
  }

  /** Asks each who it is. Fails only where there is no way to any, as without a usable kubeconfig. */
  async services(): Promise<Services> {
    this.#ways = await this.#open();
    const asked = await Promise.all(this.#ways.map((way) => this.#ask(way)));
    const reached = asked.flatMap((answer) => ("client" in answer ? [answer] : []));
    const missed = asked.flatMap((answer) => ("error" in answer ? [answer] : []));
    return { reached: reached.filter(({ name }) => this.#settings.service?.includes(name) ?? true), missed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.#ways) await client.close();
    await this.#kube?.stop();
  }

  async #open(): Promise<readonly Way[]> {
    const { env, clock, signal, registrations } = this.#session;
    const { address = [], service: named, deadline } = this.#settings;
    const client = (connection: Connection) => new ServiceClient({ connection, clock, deadline, signal });
    const kube = this.#kube;
    if (kube === undefined) {
      return address.map((url) => ({ client: client(new AddressConnection(url, env)), registration: undefined }));
    }
    const wanted = chosen(registrations, named);
    await kube.namespace();
    const found = await this.#installed(kube);
    return wanted.flatMap((registration) => {
      const namespaces = found?.get(registration.name) ?? [registration.place.namespace];
      const unlisted = found?.has(registration.name) === false;
      return namespaces.map((namespace) => {
        const servicePlace = { ...registration.place, namespace };
        const connection = new ProxiedConnection({ kube, place: servicePlace, deadline });
        return { client: client(connection), registration, servicePlace, unlisted };
      });
    });
  }

  /**
   * The namespaces of the Services that the charts made, by name: a release may be in any. Where the user may not look, or the API
   * server is away, there is no answer, and services are sought where their charts put them by default.
   */
  async #installed(kube: KubeClient): Promise<ReadonlyMap<string, readonly string[]> | undefined> {
    const { serviceNamespace, deadline } = this.#settings;
    const { registrations, signal } = this.#session;
    if (serviceNamespace !== undefined) {
      return new Map(registrations.map(({ name }) => [name, [serviceNamespace]]));
    }
    const found = new Map<string, readonly string[]>();
    try {
      const { items } = await kube.resource(services).list({ labelSelector: PART_OF, signal, deadline });
      for (const { metadata } of items) {
        const { name = "", namespace = "" } = metadata;
        const { name: known } = registrations.find(({ place }) => place.service === name) ?? {};
        if (known !== undefined) found.set(known, [...(found.get(known) ?? []), namespace]);
      }
      return found;
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      return undefined;
    }
  }

  async #ask({ client, registration, servicePlace, unlisted = false }: Way): Promise<ReachedService | MissedService> {
    const found = servicePlace === undefined ? {} : { servicePlace };
    try {
      const status = await client.status();
      const { service: name } = status;
      if (registration !== undefined && name !== registration.name) {
        throw new BadAnswer({ place: client.place, fault: `it is ${name}, not ${registration.name}` });
      }
      const known = registration ?? this.#session.registrations.find((one) => one.name === name);
      return { name, client, status, registration: known, ...found };
    } catch (reason) {
      // Whoever may reach some services only is refused the others before anyone looks whether they are there.
      const absent = unlisted && reason instanceof kubeErrors.Forbidden;
      const error = absent ? new NotInstalled({ place: client.place }) : reason;
      // Whoever names a service wants it to be there.
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
    throw new WrongUsage({ fault: `there is no service ${unknown.join(", ")}; there is ${known}` });
  }
  return registrations.filter(({ name }) => named?.includes(name) ?? true);
}
