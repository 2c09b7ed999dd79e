import { type Detour, headerValue, type Led, SERVICE_HEADER, type Was } from "./led.ts";

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
  readonly filters?: readonly unknown[];
}

type Rules = readonly HttpRouteRule[];

/** The rules with every backend that is the Service led to the resolver; those that are so already stay. */
export function leadAway(rules: Rules, detour: Detour): Led<Rules> {
  const was: Was[] = [];
  const led = rules.map((rule, at) => ({
    ...rule,
    ...(rule.backendRefs && {
      backendRefs: rule.backendRefs.map((backend, index) => {
        if (!isBackend(backend, { name: detour.service, namespace: detour.namespace }, detour)) return backend;
        was.push({ at: [at, index], was: backend });
        return detoured(backend, detour);
      }),
    }),
  }));
  return { rules: led, was };
}

/** The rules with what was led away put back. What somebody else has changed since stays as it is. */
export function leadBack(rules: Rules, was: readonly Was[], detour: Detour): Rules {
  return rules.map((rule, at) => ({
    ...rule,
    ...(rule.backendRefs && {
      backendRefs: rule.backendRefs.map((backend, index) => {
        const before = was.find(({ at: [ofRule, of] }) => ofRule === at && of === index);
        return before && isBackend(backend, detour.resolver, detour) ? (before.was as BackendRef) : backend;
      }),
    }),
  }));
}

/** Whether requests come to the resolver by a route. */
export function leadsToResolver(rules: Rules, detour: Detour): boolean {
  return rules.some(({ backendRefs }) => backendRefs?.some((backend) => isBackend(backend, detour.resolver, detour)));
}

function detoured({ weight, port, filters = [] }: BackendRef, detour: Detour): BackendRef {
  const { name, namespace, port: own } = detour.resolver;
  const set = [{ name: SERVICE_HEADER, value: headerValue(detour, port) }];
  return {
    name,
    ...(namespace === detour.namespace ? {} : { namespace }),
    port: own,
    ...(weight === undefined ? {} : { weight }),
    filters: [...filters, { type: "RequestHeaderModifier", requestHeaderModifier: { set } }],
  };
}

function isBackend(
  { name, namespace, group = "", kind = "Service" }: BackendRef,
  service: { readonly name: string; readonly namespace: string },
  { namespace: own }: Detour,
): boolean {
  return group === "" && kind === "Service" && name === service.name && (namespace ?? own) === service.namespace;
}
