import { type Detour, headerValue, type Led, SERVICE_HEADER, type Was } from "./led.ts";

/** networking.istio.io/v1, as far as destinations of HTTP go. */
export interface VirtualServiceRule {
  readonly route?: readonly VirtualServiceDestination[];
}

export interface VirtualServiceDestination {
  readonly destination?: {
    readonly host?: string;
    readonly subset?: string;
    readonly port?: { readonly number?: number };
  };
  readonly headers?: {
    readonly request?: { readonly set?: Readonly<Record<string, string>> };
    readonly response?: unknown;
  };
}

type Rules = readonly VirtualServiceRule[];

/** The rules with every destination that is the Service led to the resolver; those that are so already stay. */
export function leadAway(rules: Rules, detour: Detour): Led<Rules> {
  const was: Was[] = [];
  const led = rules.map((rule, at) => ({
    ...rule,
    ...(rule.route && {
      route: rule.route.map((entry, index) => {
        if (!isService(entry.destination?.host, detour)) return entry;
        was.push({ at: [at, index], was: entry });
        return detoured(entry, detour);
      }),
    }),
  }));
  return { rules: led, was };
}

/** The rules with what was led away put back. What somebody else has changed since stays as it is. */
export function leadBack(rules: Rules, was: readonly Was[], detour: Detour): Rules {
  return rules.map((rule, at) => ({
    ...rule,
    ...(rule.route && {
      route: rule.route.map((entry, index) => {
        const before = was.find(({ at: [ofRule, of] }) => ofRule === at && of === index);
        return before && isResolver(entry, detour) ? (before.was as VirtualServiceDestination) : entry;
      }),
    }),
  }));
}

/** Whether requests come to the resolver by a route. */
export function leadsToResolver(rules: Rules, detour: Detour): boolean {
  return rules.some(({ route }) => route?.some((entry) => isResolver(entry, detour)));
}

function detoured(entry: VirtualServiceDestination, detour: Detour): VirtualServiceDestination {
  const { headers = {}, destination } = entry;
  const set = { ...headers.request?.set, [SERVICE_HEADER]: headerValue(detour, destination?.port?.number) };
  return {
    ...entry,
    // A subset is one of the Service's pods, of which the resolver has none.
    destination: { host: hostOf(detour), port: { number: detour.resolver.port } },
    headers: { ...headers, request: { ...headers.request, set } },
  };
}

function hostOf({ resolver: { name, namespace } }: Detour): string {
  return `${name}.${namespace}.svc.cluster.local`;
}

function isResolver({ destination }: VirtualServiceDestination, detour: Detour): boolean {
  return destination?.host === hostOf(detour);
}

/** Istio takes a short name for one of the VirtualService's namespace. */
function isService(host: string | undefined, { service, namespace }: Detour): boolean {
  return (
    host === service || host === `${service}.${namespace}` || (host?.startsWith(`${service}.${namespace}.svc`) ?? false)
  );
}
