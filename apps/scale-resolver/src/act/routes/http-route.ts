import type { HttpBackendRef, HttpRouteFilter, HttpRouteRule } from "@evenkeel/kube";
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

type Rules = readonly HttpRouteRule[];

/** The rules with every backend that is the Service redirected to the resolver. */
export function redirect(rules: Rules, redirection: Redirection): Redirected<Rules> {
  const was: FormerDestination[] = [];
  const changed = eachBackend(rules, (backend, at) => {
    if (!isBackend(backend, { name: redirection.service, namespace: redirection.namespace }, redirection))
      return backend;
    was.push({ service: redirection.service, at, was: backend });
    return redirected(backend, redirection);
  });
  return { rules: changed, was };
}

/** The rules with the redirected backends restored. Changes by other clients stay. */
export function restore(rules: Rules, was: readonly FormerDestination[], redirection: Redirection): Rules {
  return eachBackend(rules, (backend, at) =>
    isRedirectedTo(backend, redirection)
      ? (formerDestination(was, at, backend, redirection, (one) => redirected(one, redirection)) ??
        restored(backend, redirection))
      : backend,
  );
}

/** Whether any rule redirects the Service to the resolver. */
export function isRedirected(rules: Rules, redirection: Redirection): boolean {
  return rules.some(({ backendRefs }) => backendRefs?.some((backend) => isRedirectedTo(backend, redirection)));
}

/** Whether the backend at this position is still redirected. */
export function isRedirectedAt(rules: Rules, [rule, index]: At, redirection: Redirection): boolean {
  const backend = rules[rule]?.backendRefs?.[index];
  return backend !== undefined && isRedirectedTo(backend, redirection);
}

function eachBackend(rules: Rules, change: (backend: HttpBackendRef, at: At) => HttpBackendRef): Rules {
  return rules.map((rule, at) => ({
    ...rule,
    ...(rule.backendRefs && { backendRefs: rule.backendRefs.map((backend, index) => change(backend, [at, index])) }),
  }));
}

function redirected(
  { group, kind, weight, port, filters = [] }: HttpBackendRef,
  redirection: Redirection,
): HttpBackendRef {
  const { name, namespace, port: own } = redirection.resolver;
  return {
    ...(group === undefined ? {} : { group }),
    ...(kind === undefined ? {} : { kind }),
    name,
    ...(namespace === redirection.namespace ? {} : { namespace }),
    port: own,
    ...(weight === undefined ? {} : { weight }),
    filters: withHeader(filters, headerValue(redirection, port)),
  };
}

/** A backend may have only one filter of a type. */
function withHeader(filters: readonly HttpRouteFilter[], value: string): readonly HttpRouteFilter[] {
  const header = { name: SERVICE_HEADER, value };
  if (!filters.some(isModifier)) return [...filters, { type: MODIFIER, requestHeaderModifier: { set: [header] } }];
  return filters.map((filter) => {
    if (!isModifier(filter)) return filter;
    const { requestHeaderModifier: modifier = {} } = filter;
    return { ...filter, requestHeaderModifier: { ...modifier, set: [...otherHeaders(filter), header] } };
  });
}

/** The best restore for a backend that another client changed, because its original is not recorded. */
function restored({ filters = [], ...backend }: HttpBackendRef, redirection: Redirection): HttpBackendRef {
  const { port } = namedPort(headerOf(filters), redirection) ?? {};
  const left = filters.flatMap((filter) => {
    if (!isModifier(filter)) return [filter];
    const modifier = without(filter.requestHeaderModifier ?? {}, "set");
    const set = otherHeaders(filter);
    const kept = { ...modifier, ...(set.length === 0 ? {} : { set }) };
    return Object.keys(kept).length === 0 ? [] : [{ ...filter, requestHeaderModifier: kept }];
  });
  return {
    ...without(backend, "namespace", "port"),
    name: redirection.service,
    ...(port === undefined ? {} : { port }),
    ...(left.length === 0 ? {} : { filters: left }),
  };
}

const MODIFIER = "RequestHeaderModifier";

function isModifier({ type }: HttpRouteFilter): boolean {
  return type === MODIFIER;
}

function otherHeaders({ requestHeaderModifier }: HttpRouteFilter) {
  return (requestHeaderModifier?.set ?? []).filter(({ name }) => name.toLowerCase() !== SERVICE_HEADER);
}

function headerOf(filters: readonly HttpRouteFilter[] = []): string | undefined {
  const set = filters.flatMap(({ requestHeaderModifier }) => requestHeaderModifier?.set ?? []);
  return set.find(({ name }) => name.toLowerCase() === SERVICE_HEADER)?.value;
}

function isRedirectedTo(backend: HttpBackendRef, redirection: Redirection): boolean {
  return (
    isBackend(backend, redirection.resolver, redirection) &&
    namedPort(headerOf(backend.filters), redirection) !== undefined
  );
}

function isBackend(
  { name, namespace, group = "", kind = "Service" }: HttpBackendRef,
  service: { readonly name: string; readonly namespace: string },
  { namespace: own }: Redirection,
): boolean {
  return group === "" && kind === "Service" && name === service.name && (namespace ?? own) === service.namespace;
}
