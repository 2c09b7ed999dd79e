/** Labels by name. An absent label and one with an empty value are the same, as in Prometheus. */
export type Labels = ReadonlyMap<string, string>;
