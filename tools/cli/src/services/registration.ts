import type { Decider, Decision, ObjectRef, SettingsOf, SettingsTable } from "@evenkeel/runtime";
import type { ServicePlace } from "../reach/proxied-connection.ts";
import type { ServiceClient } from "../reach/service-client.ts";

/** A kind of object that a service decides about, as the API server names it. */
export interface DecidedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
}

/** Something that a service account does, as RBAC names it. */
export interface Right {
  /** Empty for the core group. */
  readonly group: string;
  /** In the plural; `rebalances/status` for a part. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** One object of that name only. */
  readonly name?: string;
  /** In the service's own namespace, in those that it looks after (all unless it is told which), or in the whole cluster. */
  readonly where: "own" | "watched" | "cluster";
}

/** How an object stands. */
export type ObjectState = Pick<Decision, "object" | "reason" | "message" | "after"> & {
  /** When it was decided; absent before the first decision. */
  readonly at?: string;
  readonly dryRun?: boolean;
  readonly paused?: boolean;
};

export interface Supposition {
  readonly before: unknown;
  readonly after: unknown;
  readonly reason: string;
  readonly message: string;
}

/** What a service can be asked to suppose. */
export interface WhatIf<T extends SettingsTable = SettingsTable> {
  /** The kind of object that it is about. */
  readonly kind: string;
  /** The flags that say what to suppose. */
  readonly settings: T;
  /** A fault in what was given, for the user; nothing if there is none. */
  readonly check: (given: SettingsOf<T>) => string | undefined;
  /** What is supposed, as the end of "with …". */
  readonly supposed: (given: SettingsOf<T>) => string;
  readonly ask: (client: ServiceClient, object: ObjectRef, given: SettingsOf<T>) => Promise<Supposition>;
}

/** All that the command line knows of a service. */
export interface Registration {
  readonly name: string;
  /** What `replay` decides with. It is loaded only then: a service is large, and the other verbs need none of it. */
  readonly definition: () => Promise<{ readonly version: string; readonly decider: Decider }>;
  /** Where its chart puts it unless told otherwise. */
  readonly place: ServicePlace;
  readonly serviceAccount: string;
  readonly kinds: readonly DecidedKind[];
  readonly rights: readonly Right[];
  /** What it calls the value that it decides about: "the weight". */
  readonly value: string;
  /** Its objects, those without a decision too. */
  readonly objects: (client: ServiceClient, namespace: string | undefined) => Promise<readonly ObjectState[]>;
  /** What it measures now, in sentences; `explain` ends with them. */
  readonly describe: (client: ServiceClient, object: ObjectRef) => Promise<readonly string[]>;
  readonly whatIf?: WhatIf;
}

/** Keeps the flags' types inside of a registration and out of the list of them. */
export function whatIf<const T extends SettingsTable>(asked: WhatIf<T>): WhatIf {
  return asked as unknown as WhatIf;
}
