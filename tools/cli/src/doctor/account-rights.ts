import { flagName } from "@evenkeel/runtime";

/** One right that a service's chart grants to its account, from files/rules.json of the chart. */
export interface Rule {
  /** What the service needs it for, as the end of "to …". */
  readonly why: string;
  /** A value of the chart that must be true, such as `settings.leaderElect`. */
  readonly when?: string;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  /** Values of the chart that hold further names. */
  readonly resourceNamesFrom?: readonly string[];
}

/** Where rules apply: the namespaces that the service watches, its own namespace, or the whole cluster. */
export type Where = "objects" | "own" | "cluster";

export type ServiceRules = Readonly<Record<Where, readonly Rule[]>>;

/** One permission of an account. */
export interface Right {
  readonly where: Where;
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Plural, with its subresource: `rebalances/status`. */
  readonly resource: string;
  readonly name?: string;
  readonly why: string;
}

/**
 * The rights that the chart grants to a service with these settings (flag without dashes → value). A right that depends
 * on a value which the service does not report is omitted, because it is not known whether the chart granted it.
 */
export function rightsOf(rules: ServiceRules, settings: ReadonlyMap<string, string>): readonly Right[] {
  const valueOf = (path: string) => {
    const [, key] = /^settings\.(\w+)$/.exec(path) ?? [];
    return key === undefined ? undefined : settings.get(flagName(key));
  };
  /** The value may be `namespace/name`. */
  const nameOf = (path: string) => valueOf(path)?.split("/").at(-1);
  return (["objects", "own", "cluster"] as const).flatMap((where) =>
    rules[where]
      .filter(({ when }) => when === undefined || valueOf(when) === "true")
      .flatMap(({ why, apiGroups, resources, verbs, resourceNames = [], resourceNamesFrom = [] }) => {
        const isNamed = resourceNames.length + resourceNamesFrom.length > 0;
        const known = [...resourceNames, ...resourceNamesFrom.map(nameOf)].filter((name) => name !== undefined);
        return apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            verbs.flatMap((verb): readonly Right[] => {
              const right = { where, verb, group, resource, why };
              return isNamed ? known.map((name) => ({ ...right, name })) : [right];
            }),
          ),
        );
      }),
  );
}
