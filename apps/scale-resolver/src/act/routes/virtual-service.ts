import {
  type At,
  before,
  type Redirection,
  headerValue,
  type Redirected,
  namedPort,
  SERVICE_HEADER,
  type Was,
  without,
} from "./redirect.ts";

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
export function redirect(rules: Rules, redirection: Redirection): Redirected<Rules> {
  const was: Was[] = [];
  const led = eachDestination(rules, (entry, at) => {
    if (!isService(entry.destination?.host, redirection)) return entry;
    was.push({ service: redirection.service, at, was: entry });
    return redirected(entry, redirection);
  });
  return { rules: led, was };
}

/** The rules with what was led away put back. What somebody else has changed since stays as it is. */
export function restore(rules: Rules, was: readonly Was[], redirection: Redirection): Rules {
  return eachDestination(rules, (entry, at) =>
    isRedirectedTo(entry, redirection)
      ? (before(was, at, entry, redirection, (one) => redirected(one, redirection)) ?? undone(entry, redirection))
      : entry,
  );
}

/** Whether requests of the Service come to the resolver by a route. */
export function isRedirected(rules: Rules, redirection: Redirection): boolean {
  return rules.some(({ route }) => route?.some((entry) => isRedirectedTo(entry, redirection)));
}

/** Whether what was at a place is still led away there. */
export function isRedirectedAt(rules: Rules, [rule, index]: At, redirection: Redirection): boolean {
  const entry = rules[rule]?.route?.[index];
  return entry !== undefined && isRedirectedTo(entry, redirection);
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

function redirected(entry: VirtualServiceDestination, redirection: Redirection): VirtualServiceDestination {
  const { headers = {}, destination } = entry;
  const set = { ...headers.request?.set, [SERVICE_HEADER]: headerValue(redirection, destination?.port?.number) };
  return {
    ...entry,
    // A subset is one of the Service's pods, of which the resolver has none.
    destination: { host: hostOf(redirection), port: { number: redirection.resolver.port } },
    headers: { ...headers, request: { ...headers.request, set } },
  };
}

/** As near as can be to what was led away, for one that somebody has changed since: its subset is not remembered. */
function undone(entry: VirtualServiceDestination, redirection: Redirection): VirtualServiceDestination {
  const { headers = {} } = entry;
  const { [SERVICE_HEADER]: name, ...set } = headers.request?.set ?? {};
  const { port } = namedPort(name, redirection) ?? {};
  const kept = { ...without(headers.request ?? {}, "set"), ...(isEmpty(set) ? {} : { set }) };
  const left = { ...without(headers, "request"), ...(isEmpty(kept) ? {} : { request: kept }) };
  return {
    ...without(entry, "destination", "headers"),
    destination: { host: redirection.service, ...(port === undefined ? {} : { port: { number: port } }) },
    ...(isEmpty(left) ? {} : { headers: left }),
  };
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function hostOf({ resolver: { name, namespace } }: Redirection): string {
  return `${name}.${namespace}.svc.cluster.local`;
}

function isRedirectedTo({ destination, headers }: VirtualServiceDestination, redirection: Redirection): boolean {
  return (
    destination?.host === hostOf(redirection) &&
    namedPort(headers?.request?.set?.[SERVICE_HEADER], redirection) !== undefined
  );
}

/** Istio takes a short name for one of the VirtualService's namespace. */
function isService(host: string | undefined, { service, namespace }: Redirection): boolean {
  const full = `${service}.${namespace}`;
  return host === service || host === full || host === `${full}.svc` || host?.startsWith(`${full}.svc.`) === true;
}
