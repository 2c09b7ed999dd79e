import { readFileSync } from "node:fs";
import type { Cluster } from "@evenkeel/control-plane";
import { list } from "./kubectl-steps.ts";

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface Role {
  readonly rules: readonly Rule[];
}

interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: {
    readonly username: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A request of an account to the API server. */
export interface Request {
  /** Such as `get secrets` or `patch rebalances/status.rebalancer.ch1aki.github.io`. */
  readonly right: string;
  readonly address: string;
  /** When it arrived, in ISO 8601. */
  readonly at: string;
  /** HTTP status of the response. */
  readonly code: number;
  /** The binding that allowed it, in the authorizer's words. */
  readonly because: string;
}

/** What a service's accounts did in a cluster, compared with the rights that its chart grants. */
export interface UsedRights {
  /** Requests that were refused because a right or an identity was missing. */
  readonly refused: readonly Request[];
  /** Requests that were allowed by another role than the chart's, such as one for every user. */
  readonly allowedElsewhere: readonly Request[];
  /** Granted and never used, in the format of `Request.right`. */
  readonly unused: readonly string[];
}

/**
 * Compares the audit log of a cluster with the rights that a service's chart grants. All releases of the service count
 * as one account, in any namespace. With a `secondAccount`, such as `impersonator`, what it impersonates counts as use
 * of the right to do so; what the impersonated user may then do is not a right of the service.
 */
export async function usedRights(cluster: Cluster, service: string, secondAccount?: string): Promise<UsedRights> {
  // The roles for users of its kinds are not bound to its account.
  const label = ["-l", `app.kubernetes.io/name=${service},app.kubernetes.io/component!=user-roles`];
  const roles = [
    ...(await list<Role>(cluster, "clusterroles", ...label)),
    ...(await list<Role>(cluster, "roles", "-A", ...label)),
  ];
  const granted = rightsOf(roles.flatMap(({ rules }) => rules));
  const events = readEvents(cluster.auditLog ?? "");
  const second = secondAccount === undefined ? [] : eventsOf(events, `${service}-${secondAccount}`);
  const requests = [...requestsOf(eventsOf(events, service)), ...requestsOf(second.filter(isOwn))];
  if (granted.size === 0 || requests.length === 0) throw new Error(`${service} has no rights here, or used none`);
  const refused = requests.filter(({ code }) => code === 401 || code === 403);
  const byTheChart = requests.filter(({ because }) => because.includes(`to ServiceAccount "${service}/`));
  const used = new Set([...byTheChart.map(({ right }) => right), ...second.flatMap(impersonationsOf)]);
  const isUsed = (right: string): boolean =>
    used.has(right) || (right.includes(" *.") && [...used].some((other) => covers(right, other)));
  return {
    refused,
    allowedElsewhere: requests.filter((request) => !byTheChart.includes(request) && !refused.includes(request)),
    unused: [...granted].filter((right) => !isUsed(right)).sort(),
  };
}

/** What a service's account asked of the API server, by the cluster's audit log, in the order of the answers. */
export function requestsBy(cluster: Pick<Cluster, "auditLog">, service: string): readonly Request[] {
  return requestsOf(eventsOf(readEvents(cluster.auditLog ?? ""), service));
}

function readEvents(auditLog: string): readonly AuditEvent[] {
  return readFileSync(auditLog, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEvent);
}

/** The responses to service accounts with this name. */
function eventsOf(events: readonly AuditEvent[], account: string): readonly AuditEvent[] {
  const isAccount = (name: string) => name.startsWith("system:serviceaccount:") && name.endsWith(`:${account}`);
  return events.filter(
    ({ stage, user: { username } }) => isAccount(username) && /^Response(Complete|Started)$/.test(stage),
  );
}

const isOwn = ({ impersonatedUser }: AuditEvent): boolean => impersonatedUser === undefined;

/** Requests about objects. */
function requestsOf(events: readonly AuditEvent[]): readonly Request[] {
  return events.flatMap(
    ({ verb, objectRef, responseStatus, requestURI, requestReceivedTimestamp: at, annotations = {} }) => {
      if (objectRef?.resource === undefined) return [];
      const { apiGroup = "", resource, subresource } = objectRef;
      const because = annotations["authorization.k8s.io/reason"] ?? "";
      const right = rightOf(verb, apiGroup, subresource === undefined ? resource : `${resource}/${subresource}`);
      return [{ right, address: requestURI, at, code: responseStatus?.code ?? 0, because }];
    },
  );
}

/** The rights that a request used to be one of another user. */
function impersonationsOf({ impersonatedUser }: AuditEvent): string[] {
  if (impersonatedUser === undefined) return [];
  const { username, uid, groups = [], extra = {} } = impersonatedUser;
  const authentication = "authentication.k8s.io";
  return [
    rightOf("impersonate", "", username.startsWith("system:serviceaccount:") ? "serviceaccounts" : "users"),
    ...(groups.length === 0 ? [] : [rightOf("impersonate", "", "groups")]),
    ...(uid === undefined || uid === "" ? [] : [rightOf("impersonate", authentication, "uids")]),
    ...Object.keys(extra).map((key) => rightOf("impersonate", authentication, `userextras/${key}`)),
  ];
}

/** Whether a right to every resource of a group, such as `impersonate *.authentication.k8s.io`, is the other one. */
function covers(right: string, other: string): boolean {
  const [verb = "", group = ""] = right.split(" *.");
  return other.startsWith(`${verb} `) && other.endsWith(`.${group}`);
}

/** Everything that rules grant, in the format of `Request.right`. */
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
