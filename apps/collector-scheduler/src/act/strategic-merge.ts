type Fields = Readonly<Record<string, unknown>>;

/** Lists of a pod template whose entries are told apart by a field. Other lists are replaced as a whole. */
const KEYS: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  ephemeralContainers: "name",
  volumes: "name",
  env: "name",
  imagePullSecrets: "name",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
};

/** `ports` of a container. */
const PORTS = "ports";
const PORT_KEYS = ["containerPort", "protocol"];

/**
 * A pod template with another merged over it, as the API server does a strategic merge patch: maps field by field,
 * lists of named entries entry by entry, null removes a field. Directives such as `$patch` are not followed.
 */
export function strategicMerge(base: unknown, patch: unknown): unknown {
  if (!isFields(base) || !isFields(patch)) return patch;
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergedField(name, merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function mergedField(name: string, base: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch) || !Array.isArray(base)) return strategicMerge(base, patch);
  const keyOf = keyFunction(name);
  if (keyOf === undefined) return patch;
  const entries = new Map(base.map((entry) => [keyOf(entry), entry as unknown]));
  for (const entry of patch as readonly unknown[]) {
    const key = keyOf(entry);
    entries.set(key, strategicMerge(entries.get(key), entry));
  }
  return [...entries.values()];
}

function keyFunction(name: string): ((entry: unknown) => string) | undefined {
  const key = KEYS[name];
  const text = (entry: unknown, field: string) => JSON.stringify(isFields(entry) ? entry[field] : entry);
  if (name === PORTS) {
    return (entry) => PORT_KEYS.map((field) => text({ protocol: "TCP", ...(entry as Fields) }, field)).join(" ");
  }
  return key === undefined ? undefined : (entry) => text(entry, key);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
