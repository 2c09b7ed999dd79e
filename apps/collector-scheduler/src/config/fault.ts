/** A field of the collectors' configuration that cannot be used. The rest of the configuration goes on. */
export interface ConfigFault {
  /** Receiver and job, as `prometheus/x/job`; absent if the fault is outside any job. */
  readonly job?: string;
  /** Such as `relabel_configs[2].regex`. */
  readonly field: string;
  readonly message: string;
}

/** One line: `job prometheus/shop, field scheme: expected text`. */
export function faultText({ job, field, message }: ConfigFault): string {
  return `${job === undefined ? "" : `job ${job}, `}field ${field}: ${message}`;
}

/** `["relabel_configs", 2, "regex"]` as `relabel_configs[2].regex`. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}
