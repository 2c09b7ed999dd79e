import { connectKube, type KubeClient } from "@evenkeel/kube";
import type { SettingsOf } from "@evenkeel/runtime";
import { NotInstalled, WrongUsage } from "../errors.ts";
import type { Registration } from "../services/registration.ts";
import type { reachSettings } from "../settings.ts";
import type { Session } from "../verb.ts";
import { AddressConnection } from "./address-connection.ts";
import type { Connection } from "./connection.ts";
import { ProxiedConnection } from "./proxied-connection.ts";
import { type ProcessStatus, ServiceClient } from "./service-client.ts";

export type ReachSettings = SettingsOf<typeof reachSettings>;

/** A service that answers. */
export interface ReachedService {
  readonly name: string;
  readonly client: ServiceClient;
  readonly status: ProcessStatus;
  /** Absent for one that this command line does not know. */
  readonly registration: Registration | undefined;
}

/** A service that does not. */
export interface MissedService {
  /** Its place where the name is not known. */
  readonly name: string;
  readonly place: string;
  readonly error: unknown;
  /** False where the cluster has no such Service, which need not be a fault: nobody needs all of them. */
  readonly installed: boolean;
}

export interface Services {
  readonly reached: readonly ReachedService[];
  readonly missed: readonly MissedService[];
}

interface Way {
  readonly client: ServiceClient;
  readonly registration: Registration | undefined;
}

/** The ways to the services that a command line means, until they are closed. */
export class Reach implements AsyncDisposable {
  readonly #ways: readonly Way[];
  readonly #kube: KubeClient | undefined;
  readonly #named: readonly string[] | undefined;
  readonly #registrations: readonly Registration[];

  constructor(session: Session, settings: ReachSettings) {
    const { registrations, env, clock, signal } = session;
    const { address, service: named, deadline } = settings;
    this.#registrations = registrations;
    this.#named = named;
    const client = (connection: Connection) => new ServiceClient({ connection, clock, deadline, signal });
    if (address !== undefined) {
      this.#ways = address.map((url) => ({
        client: client(new AddressConnection(url, env)),
        registration: undefined,
      }));
      return;
    }
    const kube = openKube(session, settings);
    this.#kube = kube;
    this.#ways = chosen(registrations, named).map((registration) => {
      const place = { ...registration.place, namespace: settings.serviceNamespace ?? registration.place.namespace };
      return { client: client(new ProxiedConnection({ kube, place, deadline })), registration };
    });
  }

  /** Asks each who it is. Fails only where there is no way to any, as without a usable kubeconfig. */
  async services(): Promise<Services> {
    await this.#kube?.namespace();
    const asked = await Promise.all(this.#ways.map((way) => this.#ask(way)));
    const reached = asked.flatMap((answer) => ("client" in answer ? [answer] : []));
    const missed = asked.flatMap((answer) => ("error" in answer ? [answer] : []));
    return { reached: reached.filter(({ name }) => this.#named?.includes(name) ?? true), missed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client } of this.#ways) await client.close();
    await this.#kube?.stop();
  }

  async #ask({ client, registration }: Way): Promise<ReachedService | MissedService> {
    try {
      const status = await client.status();
      const { service: name } = status;
      return {
        name,
        client,
        status,
        registration: registration ?? this.#registrations.find((one) => one.name === name),
      };
    } catch (error) {
      // Whoever names a service wants it to be there.
      const installed = !(error instanceof NotInstalled) || this.#named !== undefined;
      return { name: registration?.name ?? client.place, place: client.place, error, installed };
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
