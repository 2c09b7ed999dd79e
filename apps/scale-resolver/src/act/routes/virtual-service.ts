import {
  type At,
  formerDestination,
  type Redirection,
  headerValue,
  type Redirected,
  namedPort,
  SERVICE_HEADER,
  type FormerDestination,
  without,
} from "./redirect.ts";

/** networking.istio.io/v1, reduced to the destinations of HTTP rules. */
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

/** The rules with every destination that is the Service redirected to the resolver. */
export function redirect(rules: Rules, redirection: Redirection): Redirected<Rules> {
  const was: FormerDestination[] = [];
  const changed = eachDestination(rules, (entry, at) => {
    if (!isService(entry.destination?.host, redirection)) return entry;
    was.push({ service: redirection.service, at, was: entry });
    return redirected(entry, redirection);
  });
  return { rules: changed, was };
}

/** The rules with the redirected destinations restored. Changes by other clients stay. */
export function restore(rules: Rules, was: readonly FormerDestination[], redirection: Redirection): Rules {
  return eachDestination(rules, (entry, at) =>
    isRedirectedTo(entry, redirection)
      ? (formerDestination(was, at, entry, redirection, (one) => redirected(one, redirection)) ??
        restored(entry, redirection))
      : entry,
  );
}

/** Whether any rule redirects the Service to the resolver. */
export function isRedirected(rules: Rules, redirection: Redirection): boolean {
  return rules.some(({ route }) => route?.some((entry) => isRedirectedTo(entry, redirection)));
}

/** Whether the destination at this position is still redirected. */
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
    // A subset selects pods of the Service, so it is removed.
    destination: { host: hostOf(redirection), port: { number: redirection.resolver.port } },
    headers: { ...headers, request: { ...headers.request, set } },
  };
}

/** The best restore for a destination that another client changed. Its subset is not recorded. */
function restored(entry: VirtualServiceDestination, redirection: Redirection): VirtualServiceDestination {
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

/** Istio resolves a short name in the namespace of the VirtualService. */
function isService(host: string | undefined, { service, namespace }: Redirection): boolean {
  const full = `${service}.${namespace}`;
  return host === service || host === full || host === `${full}.svc` || host?.startsWith(`${full}.svc.`) === true;
}
