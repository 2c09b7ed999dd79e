import type { KubeClient } from "@evenkeel/kube";
import { services } from "@evenkeel/kube";
import { type Answer, ask } from "./ask.ts";
import { NAMESPACE } from "./manifests.ts";
import { referenceGrants, type Route, type RouteKind } from "./route-manifests.ts";

/** The destination of a request. */
export interface Destination {
  readonly namespace: string;
  readonly service: string;
  readonly port: number | undefined;
  /** Headers that the route sets. */
  readonly headers: Readonly<Record<string, string>>;
}

interface VirtualServiceRule {
  readonly match?: readonly { readonly uri?: { readonly prefix?: string } }[];
  readonly route: readonly {
    readonly weight?: number;
    readonly destination: { readonly host: string; readonly port?: { readonly number: number } };
    readonly headers?: { readonly request?: { readonly set?: Readonly<Record<string, string>> } };
  }[];
}

interface HttpRouteRule {
  readonly matches?: readonly { readonly path?: { readonly value?: string } }[];
  readonly backendRefs: readonly {
    readonly name: string;
    readonly namespace?: string;
    readonly port?: number;
    readonly weight?: number;
    readonly filters?: readonly {
      readonly requestHeaderModifier?: {
        readonly set?: readonly { readonly name: string; readonly value: string }[];
      };
    }[];
  }[];
}

/**
 * A minimal gateway: reads a route for each request, uses the first rule for its path and its destination with a
 * weight, sets the rule's headers, and sends the request once to the address of the Service.
 */
export class RouteGateway {
  readonly #kube: KubeClient;

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  async destination(kind: RouteKind, name: string, path: string): Promise<Destination> {
    const route = await this.#kube.resource(kind.resource).get({ namespace: NAMESPACE, name });
    return kind.type === "virtualService"
      ? virtualServiceDestination(route, path)
      : this.#httpRouteDestination(route, path);
  }

  /**
   * Sends a request for the host `<name>.example.com` through the route of that name. A Service without endpoints
   * refuses it.
   */
  async ask(kind: RouteKind, name: string, path: string): Promise<Answer> {
    return this.send(await this.destination(kind, name, path), `${name}.example.com`, path);
  }

  async send({ namespace, service, port, headers }: Destination, host: string, path: string): Promise<Answer> {
    const { spec } = await this.#kube.resource(services).get({ namespace, name: service });
    const [first] = spec?.ports ?? [];
    const address = `http://${spec?.clusterIP ?? ""}:${port ?? first?.port ?? 0}`;
    return ask(address + path, { headers: { ...headers, host } });
  }

  async #httpRouteDestination({ spec }: Route, path: string): Promise<Destination> {
    const rule = (spec["rules"] as readonly HttpRouteRule[]).find(({ matches }) =>
      matches?.some((match) => path.startsWith(match.path?.value ?? "/")),
    );
    const backend = rule?.backendRefs.find(({ weight }) => weight !== 0);
    if (!backend) throw new Error(`no rule for ${path}`);
    const { namespace = NAMESPACE, name: service, port, filters = [] } = backend;
    // A gateway answers 500 then.
    if (namespace !== NAMESPACE && !(await this.#isGranted(namespace)))
      throw new Error(`no ReferenceGrant in ${namespace}`);
    const set = filters.flatMap(({ requestHeaderModifier }) => requestHeaderModifier?.set ?? []);
    return { namespace, service, port, headers: Object.fromEntries(set.map(({ name, value }) => [name, value])) };
  }

  async #isGranted(namespace: string): Promise<boolean> {
    const { items } = await this.#kube.resource(referenceGrants).list({ namespace });
    return items.some(({ spec }) => spec.from.some((from) => from.namespace === NAMESPACE));
  }
}

function virtualServiceDestination({ spec }: Route, path: string): Destination {
  const rule = (spec["http"] as readonly VirtualServiceRule[]).find(({ match }) =>
    match?.some(({ uri }) => path.startsWith(uri?.prefix ?? "/")),
  );
  const taken = rule?.route.find(({ weight }) => weight !== 0);
  if (!taken) throw new Error(`no rule for ${path}`);
  const [service = "", namespace = NAMESPACE] = taken.destination.host.split(".");
  return { namespace, service, port: taken.destination.port?.number, headers: taken.headers?.request?.set ?? {} };
}
