import {
  type At,
  before,
  type Detour,
  headerValue,
  type Led,
  namedPort,
  SERVICE_HEADER,
  type Was,
  without,
} from "./led.ts";

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
  const led = eachDestination(rules, (entry, at) => {
    if (!isService(entry.destination?.host, detour)) return entry;
    was.push({ service: detour.service, at, was: entry });
    return detoured(entry, detour);
  });
  return { rules: led, was };
}

/** The rules with what was led away put back. What somebody else has changed since stays as it is. */
export function leadBack(rules: Rules, was: readonly Was[], detour: Detour): Rules {
  return eachDestination(rules, (entry, at) =>
    isDetoured(entry, detour)
      ? (before(was, at, entry, detour, (one) => detoured(one, detour)) ?? undone(entry, detour))
      : entry,
  );
}

/** Whether requests of the Service come to the resolver by a route. */
export function leadsToResolver(rules: Rules, detour: Detour): boolean {
  return rules.some(({ route }) => route?.some((entry) => isDetoured(entry, detour)));
}

/** Whether what was at a place is still led away there. */
export function isLedAt(rules: Rules, [rule, index]: At, detour: Detour): boolean {
  const entry = rules[rule]?.route?.[index];
  return entry !== undefined && isDetoured(entry, detour);
}

function eachDestination(
  rules: Rules,
  change: (entry: VirtualServiceDestination, at: At) => VirtualServiceDestination,
): Rules {
  return rules.map((rule, at) => ({
    ...rule,
    ...(rule.route && { route: rule.route.map((entry, index) => change(entry, [at, index])) }),
  }));
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

/** As near as can be to what was led away, for one that somebody has changed since: its subset is not remembered. */
function undone(entry: VirtualServiceDestination, detour: Detour): VirtualServiceDestination {
  const { headers = {} } = entry;
  const { [SERVICE_HEADER]: name, ...set } = headers.request?.set ?? {};
  const { port } = namedPort(name, detour) ?? {};
  const kept = { ...without(headers.request ?? {}, "set"), ...(isEmpty(set) ? {} : { set }) };
  const left = { ...without(headers, "request"), ...(isEmpty(kept) ? {} : { request: kept }) };
  return {
    ...without(entry, "destination", "headers"),
    destination: { host: detour.service, ...(port === undefined ? {} : { port: { number: port } }) },
    ...(isEmpty(left) ? {} : { headers: left }),
  };
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function hostOf({ resolver: { name, namespace } }: Detour): string {
  return `${name}.${namespace}.svc.cluster.local`;
}

function isDetoured({ destination, headers }: VirtualServiceDestination, detour: Detour): boolean {
  return (
    destination?.host === hostOf(detour) && namedPort(headers?.request?.set?.[SERVICE_HEADER], detour) !== undefined
  );
}

/** Istio takes a short name for one of the VirtualService's namespace. */
function isService(host: string | undefined, { service, namespace }: Detour): boolean {
  const full = `${service}.${namespace}`;
  return host === service || host === full || host === `${full}.svc` || host?.startsWith(`${full}.svc.`) === true;
}
