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

/** gateway.networking.k8s.io/v1, as far as backends go. */
export interface HttpRouteRule {
  readonly backendRefs?: readonly BackendRef[];
}

export interface BackendRef {
  readonly name: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly port?: number;
  readonly weight?: number;
  readonly filters?: readonly Filter[];
}

interface Filter {
  readonly type: string;
  readonly requestHeaderModifier?: {
    readonly set?: readonly { readonly name: string; readonly value: string }[];
  };
}

type Rules = readonly HttpRouteRule[];

/** The rules with every backend that is the Service led to the resolver; those that are so already stay. */
export function leadAway(rules: Rules, detour: Detour): Led<Rules> {
  const was: Was[] = [];
  const led = eachBackend(rules, (backend, at) => {
    if (!isBackend(backend, { name: detour.service, namespace: detour.namespace }, detour)) return backend;
    was.push({ service: detour.service, at, was: backend });
    return detoured(backend, detour);
  });
  return { rules: led, was };
}

/** The rules with what was led away put back. What somebody else has changed since stays as it is. */
export function leadBack(rules: Rules, was: readonly Was[], detour: Detour): Rules {
  return eachBackend(rules, (backend, at) =>
    isDetoured(backend, detour)
      ? (before(was, at, backend, detour, (one) => detoured(one, detour)) ?? undone(backend, detour))
      : backend,
  );
}

/** Whether requests of the Service come to the resolver by a route. */
export function leadsToResolver(rules: Rules, detour: Detour): boolean {
  return rules.some(({ backendRefs }) => backendRefs?.some((backend) => isDetoured(backend, detour)));
}

/** Whether what was at a place is still led away there. */
export function isLedAt(rules: Rules, [rule, index]: At, detour: Detour): boolean {
  const backend = rules[rule]?.backendRefs?.[index];
  return backend !== undefined && isDetoured(backend, detour);
}

function eachBackend(rules: Rules, change: (backend: BackendRef, at: At) => BackendRef): Rules {
  return rules.map((rule, at) => ({
    ...rule,
    ...(rule.backendRefs && { backendRefs: rule.backendRefs.map((backend, index) => change(backend, [at, index])) }),
  }));
}

function detoured({ group, kind, weight, port, filters = [] }: BackendRef, detour: Detour): BackendRef {
  const { name, namespace, port: own } = detour.resolver;
  return {
    ...(group === undefined ? {} : { group }),
    ...(kind === undefined ? {} : { kind }),
    name,
    ...(namespace === detour.namespace ? {} : { namespace }),
    port: own,
    ...(weight === undefined ? {} : { weight }),
    filters: withHeader(filters, headerValue(detour, port)),
  };
}

/** A backend may have one filter of a type only. */
function withHeader(filters: readonly Filter[], value: string): readonly Filter[] {
  const header = { name: SERVICE_HEADER, value };
  if (!filters.some(isModifier)) return [...filters, { type: MODIFIER, requestHeaderModifier: { set: [header] } }];
  return filters.map((filter) => {
    if (!isModifier(filter)) return filter;
    const { requestHeaderModifier: modifier = {} } = filter;
    return { ...filter, requestHeaderModifier: { ...modifier, set: [...otherHeaders(filter), header] } };
  });
}

/** As near as can be to what was led away, for one that somebody has changed since: nothing is remembered of it. */
function undone({ filters = [], ...backend }: BackendRef, detour: Detour): BackendRef {
  const { port } = namedPort(headerOf(filters), detour) ?? {};
  const left = filters.flatMap((filter) => {
    if (!isModifier(filter)) return [filter];
    const modifier = without(filter.requestHeaderModifier ?? {}, "set");
    const set = otherHeaders(filter);
    const kept = { ...modifier, ...(set.length === 0 ? {} : { set }) };
    return Object.keys(kept).length === 0 ? [] : [{ ...filter, requestHeaderModifier: kept }];
  });
  return {
    ...without(backend, "namespace", "port"),
    name: detour.service,
    ...(port === undefined ? {} : { port }),
    ...(left.length === 0 ? {} : { filters: left }),
  };
}

const MODIFIER = "RequestHeaderModifier";

function isModifier({ type }: Filter): boolean {
  return type === MODIFIER;
}

function otherHeaders({ requestHeaderModifier }: Filter) {
  return (requestHeaderModifier?.set ?? []).filter(({ name }) => name.toLowerCase() !== SERVICE_HEADER);
}

function headerOf(filters: readonly Filter[] = []): string | undefined {
  const set = filters.flatMap(({ requestHeaderModifier }) => requestHeaderModifier?.set ?? []);
  return set.find(({ name }) => name.toLowerCase() === SERVICE_HEADER)?.value;
}

function isDetoured(backend: BackendRef, detour: Detour): boolean {
  return isBackend(backend, detour.resolver, detour) && namedPort(headerOf(backend.filters), detour) !== undefined;
}

function isBackend(
  { name, namespace, group = "", kind = "Service" }: BackendRef,
  service: { readonly name: string; readonly namespace: string },
  { namespace: own }: Detour,
): boolean {
  return group === "" && kind === "Service" && name === service.name && (namespace ?? own) === service.namespace;
}
