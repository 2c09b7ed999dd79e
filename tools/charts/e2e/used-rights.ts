import { readFileSync } from "node:fs";

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestURI: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What somebody asked of the API server. */
export interface Request {
  /** As `get secrets` or `patch rebalances/status.rebalancer.ch1aki.github.io`. */
  readonly right: string;
  readonly address: string;
  /** HTTP status of the answer. */
  readonly code: number;
  /** Which binding allowed it, in the authorizer's words. */
  readonly because: string;
}

/** Requests about objects by a user, from an audit log. */
export function requestsOf(auditLog: string, user: string): readonly Request[] {
  const events = readFileSync(auditLog, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEvent);
  return events
    .filter(({ stage, user: { username } }) => username === user && /^Response(Complete|Started)$/.test(stage))
    .flatMap(({ verb, objectRef, responseStatus, requestURI, annotations = {} }) => {
      if (objectRef?.resource === undefined) return [];
      const { apiGroup = "", resource, subresource } = objectRef;
      const because = annotations["authorization.k8s.io/reason"] ?? "";
      const right = rightOf(verb, apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`);
      return [{ right, address: requestURI, code: responseStatus?.code ?? 0, because }];
    });
}

/** Everything that rules grant, in the words of `Request.right`. */
export function rightsOf(rules: readonly Rule[]): ReadonlySet<string> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => rightOf(verb, group, resource))),
      ),
    ),
  );
}

function rightOf(verb: string, group: string, resource: string): string {
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}
