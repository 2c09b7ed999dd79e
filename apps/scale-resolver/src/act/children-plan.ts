import { type ElastiService, parseElastiService } from "@evenkeel/api";
import { controllerOf, ownerReference, type Service } from "@evenkeel/kube";
import { matchesSelector } from "@evenkeel/placement";
import { boundedName, LONGEST_LABEL, LONGEST_NAME } from "../bounded-name.ts";
import type { TargetRef } from "../binding.ts";
import { elastiServices, type StoredElastiService } from "../elasti-service-resource.ts";
import { bindingOf } from "../observe/binding-of.ts";
import { isOriginalPrivateService, originalPrivateServiceName } from "../observe/original-names.ts";
import { nameOf, type Workload, workloadOf } from "../observe/workload-of.ts";

/** Label on a child: the name of its parent. */
export const SELECTED_BY = "evenkeel.io/selected-by";

/** Input for the children of an ElastiService that selects Services. All objects are in its namespace. */
export interface SelectionInput {
  readonly parent: ElastiService;
  readonly services: readonly Service[];
  readonly workloads: readonly Workload[];
  readonly objects: readonly StoredElastiService[];
  /** The Service of this program's own replicas, which must not scale itself to 0. */
  readonly own: string | undefined;
}

export interface SelectionPlan {
  readonly create: readonly StoredElastiService[];
  readonly change: readonly { readonly present: StoredElastiService; readonly wanted: StoredElastiService }[];
  readonly remove: readonly StoredElastiService[];
  /** Number of Services that have, or will have, a child. */
  readonly selected: number;
  readonly left: readonly LeftOut[];
}

/** A Service that the selector matches and that cannot be managed. `why` completes a sentence. */
export interface LeftOut {
  readonly service: string;
  readonly why: string;
}

interface Found {
  readonly service: string;
  readonly target: TargetRef;
}

/**
 * Plans one ElastiService for each selected Service. A Service is left out unless exactly one workload is behind it and
 * no other Service uses that workload: to scale the wrong workload is worse than to scale none. Children that are no
 * longer wanted are removed.
 */
export function planChildren(input: SelectionInput): SelectionPlan {
  const { objects, parent } = input;
  const { found, left } = findWorkloads(input);
  const apart = withoutShared(found, othersTargets(input));
  const byName = new Map(objects.map((object) => [object.metadata.name, object]));
  const wanted = new Map<string, StoredElastiService>();
  const taken: LeftOut[] = [];
  for (const one of apart.found) {
    const child = childOf(parent, one);
    const { name = "" } = child.metadata;
    const present = byName.get(name);
    if (present === undefined || isChildOf(present, parent)) wanted.set(name, child);
    else taken.push({ service: one.service, why: `an ElastiService ${name} exists already` });
  }
  const present = objects.filter((object) => isChildOf(object, parent) && !isGoing(object));
  return {
    create: [...wanted].filter(([name]) => !byName.has(name)).map(([, child]) => child),
    change: present.flatMap((child) => {
      const next = wanted.get(child.metadata.name ?? "");
      return next === undefined || isAlike(child, next) ? [] : [{ present: child, wanted: next }];
    }),
    remove: present.filter(({ metadata }) => !wanted.has(metadata.name ?? "")),
    selected: wanted.size,
    left: [...left, ...apart.left, ...taken].sort((a, b) => (a.service < b.service ? -1 : 1)),
  };
}

/** Compares the uid, because another object may have the parent's name. */
function isChildOf(object: StoredElastiService, { metadata: { uid } }: { metadata: { uid?: string } }): boolean {
  return uid !== undefined && controllerOf(object)?.uid === uid;
}

function findWorkloads(input: SelectionInput): { readonly found: readonly Found[]; readonly left: readonly LeftOut[] } {
  const { parent, services, workloads, own } = input;
  const named = namedByOthers(input);
  const copies = new Set(services.map(({ metadata }) => originalPrivateServiceName(metadata.name ?? "")));
  const self = services.find(({ metadata }) => metadata.name === own);
  const itself = self && workloadOf(self.spec?.selector, workloads);
  const found: Found[] = [];
  const left: LeftOut[] = [];
  for (const { metadata, spec = {} } of services) {
    const { name: service = "", labels = {}, deletionTimestamp } = metadata;
    const isCopy = copies.has(service) || isOriginalPrivateService(service);
    const isMeant = matchesSelector(parent.spec.selector ?? {}, labels) && !isCopy;
    if (!isMeant || deletionTimestamp !== undefined || spec.type === "ExternalName") continue;
    if (service === own || named.has(service)) continue;
    const behind = workloadOf(spec.selector, workloads);
    if (spec.clusterIP === "None")
      left.push({ service, why: "it is headless, so its clients connect to pods directly" });
    else if ("why" in behind) left.push({ service, why: behind.why });
    else if (!itself || "why" in itself || keyOf(itself.target) !== keyOf(behind.target))
      found.push({ service, target: behind.target });
  }
  return { found, left };
}

/**
 * Services that another ElastiService manages. An ElastiService that a user wrote has priority over any selection. If
 * two selections match the same Service, the older one manages it.
 */
function namedByOthers({ parent, objects }: SelectionInput): ReadonlySet<string> {
  const byUid = new Map(objects.map((object) => [object.metadata.uid, object]));
  const named = objects.flatMap((object) => {
    const { service } = (object.spec ?? {}) as { readonly service?: unknown };
    if (typeof service !== "string" || service === "*" || isChildOf(object, parent)) return [];
    const maker = byUid.get(controllerOf(object)?.uid);
    return maker === undefined || isOlder(maker, parent) ? [service] : [];
  });
  return new Set(named);
}

/** The ElastiServices of users by the workload that they scale. */
function othersTargets({ parent, objects }: SelectionInput): ReadonlyMap<string, string> {
  const targets = objects.flatMap((object) => {
    if (controllerOf(object)?.kind === elastiServices.kind || object.metadata.uid === parent.metadata.uid) return [];
    const parsed = parseElastiService(object);
    const binding = parsed.ok ? bindingOf(parsed.value) : undefined;
    return binding ? [[keyOf(binding.target), object.metadata.name ?? ""] as const] : [];
  });
  return new Map(targets);
}

/** If two Services share a workload, one could scale it to 0 while the other has traffic. */
function withoutShared(
  all: readonly Found[],
  others: ReadonlyMap<string, string>,
): { readonly found: readonly Found[]; readonly left: readonly LeftOut[] } {
  const byTarget = Map.groupBy(all, ({ target }) => keyOf(target));
  const found: Found[] = [];
  const left: LeftOut[] = [];
  for (const [key, group] of byTarget) {
    const other = others.get(key);
    for (const one of group) {
      const { service, target } = one;
      const second = group.find((beside) => beside !== one)?.service;
      if (other !== undefined) left.push({ service, why: `ElastiService ${other} scales its ${nameOf(target)}` });
      else if (second !== undefined)
        left.push({ service, why: `its ${nameOf(target)} is also behind Service ${second}` });
      else found.push(one);
    }
  }
  return { found, left };
}

/**
 * Fields that children do not inherit. The parent's autoscaler belongs to one workload, so it cannot apply to each
 * child.
 */
const NOT_INHERITED: ReadonlySet<string> = new Set(["selector", "service", "scaleTargetRef", "autoscaler"]);

/** The child for one Service, with the parent's spec. */
function childOf(parent: ElastiService, { service, target }: Found): StoredElastiService {
  const inherited = Object.entries(parent.spec).filter(([field]) => !NOT_INHERITED.has(field));
  const { namespace = "", name: parentName } = parent.metadata;
  const metadata = {
    ...{ namespace, name: boundedName(`${parentName}-${service}`, LONGEST_NAME) },
    labels: { [SELECTED_BY]: boundedName(parentName, LONGEST_LABEL) },
  };
  const { apiVersion, kind } = parent;
  const ownerOptions = { controller: true, blockOwnerDeletion: false };
  const owner = ownerReference({ apiVersion, kind, metadata: ownerOf(parent) }, { metadata }, ownerOptions);
  return {
    ...{ apiVersion, kind, metadata: { ...metadata, ownerReferences: [owner] } },
    spec: { ...Object.fromEntries(inherited), service, scaleTargetRef: target },
  };
}

function ownerOf({ metadata: { namespace = "", name, uid = "" } }: ElastiService) {
  return { namespace, name, uid };
}

/** Ignores fields that the API server fills in. */
function isAlike(present: StoredElastiService, wanted: StoredElastiService): boolean {
  const label = (object: StoredElastiService) => object.metadata.labels?.[SELECTED_BY];
  return label(present) === label(wanted) && specText(present) === specText(wanted);
}

function specText(object: StoredElastiService): string | undefined {
  const parsed = parseElastiService(object);
  return parsed.ok ? JSON.stringify(sorted(parsed.value.spec)) : undefined;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}

function isGoing({ metadata }: StoredElastiService): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isOlder(one: StoredElastiService, other: ElastiService): boolean {
  const rank = (created: string | null | undefined, name: string | undefined) => `${created ?? ""} ${name ?? ""}`;
  const { metadata } = one;
  return rank(metadata.creationTimestamp, metadata.name) < rank(other.metadata.creationTimestamp, other.metadata.name);
}

function keyOf({ kind, name }: TargetRef): string {
  return `${kind} ${name}`;
}
