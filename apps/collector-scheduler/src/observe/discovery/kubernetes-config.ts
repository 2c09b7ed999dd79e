import { z } from "zod";
import { httpDefaults } from "./config-fields.ts";
import type { KubernetesBlock, KubernetesRole } from "./discovery-block.ts";
import type { DiscoveryLimits } from "./discovery-limits.ts";
import { fieldSelectorFault, labelSelectorFault } from "./selector-faults.ts";

const ROLES = ["pod", "service", "endpoints", "endpointslice", "node", "ingress"] as const;

/** Which objects each role can select. */
const SELECTABLE: Readonly<Record<KubernetesRole, readonly KubernetesRole[]>> = {
  pod: ["pod", "node"],
  service: ["service"],
  endpoints: ["pod", "service", "endpoints"],
  endpointslice: ["pod", "service", "endpointslice"],
  node: ["node"],
  ingress: ["ingress"],
};

/** Characters. Checking a selector takes time that grows at most with the square of its length. */
const LONGEST_SELECTOR = 4096;

const attach = z.strictObject({
  node: z.boolean().default(false),
  namespace: z.boolean().default(false),
  deployment: z.boolean().default(false),
  job: z.boolean().default(false),
  cronjob: z.boolean().default(false),
});

const schema = z.strictObject({
  ...httpDefaults,
  role: z.enum(ROLES),
  namespaces: z
    .strictObject({ own_namespace: z.boolean().default(false), names: z.array(z.string().min(1)).nullish() })
    .nullish(),
  selectors: z
    .array(
      z.strictObject({
        role: z.enum(ROLES),
        label: selector(labelSelectorFault),
        field: selector(fieldSelectorFault),
      }),
    )
    .nullish(),
  attach_metadata: attach.nullish(),
});

type Config = z.infer<typeof schema>;
type Report = (path: readonly (string | number)[], message: string) => void;

/** One entry of `kubernetes_sd_configs`. */
export function kubernetesConfig(limits: DiscoveryLimits) {
  return schema.transform((config, context): KubernetesBlock => {
    const report: Report = (path, message) => context.addIssue({ code: "custom", path: [...path], message });
    checkSelectors(config, report);
    if (limits.scope === "own") checkScope(config, limits, report);
    else checkWatched(config, limits, report);
    const { role, selectors, attach_metadata: attached } = config;
    return {
      mechanism: "kubernetes",
      role,
      namespaces: role === "node" ? [] : namespacesOf(config, limits),
      selectors: Object.fromEntries(
        (selectors ?? []).map(({ role: selected, label, field }) => [
          selected,
          { ...(label !== undefined && { label }), ...(field !== undefined && { field }) },
        ]),
      ),
      attach: attach.parse(attached ?? {}),
    };
  });
}

/** The CollectorLoadBalancer's namespace is its own one, since that is where its collectors run. */
function namespacesOf({ namespaces }: Config, limits: DiscoveryLimits): readonly string[] {
  const { scope, namespace, watched = [] } = limits;
  if (scope === "own") return [namespace];
  const own = namespaces?.own_namespace === true ? [namespace] : [];
  const named = [...(namespaces?.names ?? []), ...own];
  return [...new Set(named.length === 0 ? watched : named)].sort();
}

function checkSelectors({ role, selectors }: Config, report: Report): void {
  const seen = new Set<KubernetesRole>();
  for (const [index, { role: selected }] of (selectors ?? []).entries()) {
    const path = ["selectors", index, "role"];
    if (seen.has(selected)) report(path, `a second selector of role ${selected}`);
    if (!SELECTABLE[role].includes(selected))
      report(path, `role ${role} can select only ${SELECTABLE[role].join(", ")}, not ${selected}`);
    seen.add(selected);
  }
}

/** Nodes and namespaces belong to no namespace, so nobody may discover them whose scope is one. */
function checkScope(
  { role, namespaces, attach_metadata: attached }: Config,
  limits: DiscoveryLimits,
  report: Report,
): void {
  const why = `--discovery-scope is own, so only namespace ${limits.namespace} is discovered`;
  if (role === "node") report(["role"], `role node is not allowed: ${why}`);
  for (const [index, name] of (namespaces?.names ?? []).entries())
    if (name !== limits.namespace) report(["namespaces", "names", index], `namespace ${name} is not allowed: ${why}`);
  for (const field of ["node", "namespace"] as const)
    if (attached?.[field] === true) report(["attach_metadata", field], `${field} metadata is not allowed: ${why}`);
}

/** In other namespaces the service has no rights, so that the source would never answer. */
function checkWatched({ role, namespaces }: Config, { watched = [] }: DiscoveryLimits, report: Report): void {
  if (role === "node" || watched.length === 0) return;
  for (const [index, name] of (namespaces?.names ?? []).entries())
    if (!watched.includes(name))
      report(["namespaces", "names", index], `namespace ${name} is not one of --watch-namespaces`);
}

function selector(faultOf: (text: string) => string | undefined) {
  return z
    .string()
    .max(LONGEST_SELECTOR, { abort: true, message: `a selector has at most ${LONGEST_SELECTOR} characters` })
    .optional()
    .transform((text, context) => {
      const fault = text === undefined ? undefined : faultOf(text);
      if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
      return text === "" ? undefined : text;
    });
}
