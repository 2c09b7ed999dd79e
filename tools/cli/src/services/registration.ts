import type { Decider, Decision, ObjectRef, SettingsOf, SettingsTable } from "@evenkeel/runtime";
import type { ServiceRules } from "../doctor/account-rights.ts";
import type { ServicePlace } from "../reach/proxied-connection.ts";
import type { ServiceClient } from "../reach/service-client.ts";

/** A kind of object that a service decides about. */
export interface DecidedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
}

/** The state of an object. */
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
  /** More of the answer, for `-o json`. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** How a service simulates a decision. */
export interface WhatIf<T extends SettingsTable = SettingsTable> {
  /** The kinds of objects that it applies to. */
  readonly kinds: readonly string[];
  /** What is simulated, if that is not the `value` of the service. */
  readonly value?: string;
  /** The flags for the inputs. */
  readonly settings: T;
  /** Why the inputs are invalid, for the user. */
  readonly check: (given: SettingsOf<T>) => string | undefined;
  /** The inputs, as the end of "With …". */
  readonly supposed: (given: SettingsOf<T>) => string;
  readonly ask: (client: ServiceClient, object: ObjectRef, given: SettingsOf<T>) => Promise<Supposition>;
}

/** How a service explains a part of its objects, such as one target of a CollectorLoadBalancer. */
export interface PartExplanation<T extends SettingsTable = SettingsTable> {
  /** The kind of object that it applies to. */
  readonly kind: string;
  /** The flags that name the part. */
  readonly settings: T;
  /** Whether the flags name a part. */
  readonly isAsked: (given: SettingsOf<T>) => boolean;
  readonly ask: (client: ServiceClient, object: ObjectRef, given: SettingsOf<T>) => Promise<ExplainedPart>;
}

/** A kind that Kubernetes has, such as pods. It must have namespaces. */
export interface ForeignKind {
  /** As the service names it. */
  readonly kind: string;
  /** How users write it, in small letters: singular, plural and short. */
  readonly words: readonly string[];
}

/** How a service explains objects of kinds that Kubernetes has. */
export interface ForeignExplanation {
  readonly kinds: readonly ForeignKind[];
  /** Otherwise a name without a namespace is in the namespace of the kubeconfig, as for kubectl. */
  readonly needsNamespace?: boolean;
  readonly ask: (client: ServiceClient, object: ObjectRef) => Promise<ExplainedPart>;
}

export interface ExplainedPart {
  /** For a person. */
  readonly lines: readonly string[];
  /** The answer of the service, for `-o json`. */
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Everything that this program knows about a service. */
export interface Registration {
  readonly name: string;
  /**
   * For `replay`, which loads it on demand. It imports only the rules of the service, so that the program needs none of
   * its libraries.
   */
  readonly decider: () => Promise<Decider>;
  /** Where its chart installs it by default. */
  readonly place: ServicePlace;
  readonly serviceAccount: string;
  readonly kinds: readonly DecidedKind[];
  /** The rights of its account: files/rules.json of its chart. */
  readonly rules: ServiceRules;
  /** The value that it decides about, as messages name it: "the weight". */
  readonly value: string;
  /** Its objects, also those without a decision. */
  readonly objects: (client: ServiceClient, namespace: string | undefined) => Promise<readonly ObjectState[]>;
  /** What it measures now, in sentences for `explain`. */
  readonly describe: (client: ServiceClient, object: ObjectRef) => Promise<readonly string[]>;
  readonly part?: PartExplanation;
  readonly foreign?: ForeignExplanation;
  readonly whatIf?: WhatIf;
}

/** Keeps the types of the flags inside a registration and out of the list. */
export function whatIf<const T extends SettingsTable>(asked: WhatIf<T>): WhatIf {
  return asked as unknown as WhatIf;
}

/** As `whatIf`. */
export function part<const T extends SettingsTable>(explained: PartExplanation<T>): PartExplanation {
  return explained as unknown as PartExplanation;
}
