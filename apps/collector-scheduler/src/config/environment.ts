import { isFields } from "./configuration-text.ts";

/** The container that runs the collector. */
export const COLLECTOR_CONTAINER = "aoc2";

/** A value that is in a Secret of the user: pods can mount it, and this process never reads it. */
export class SecretValue {
  readonly secret: string;
  readonly key: string;

  constructor(secret: string, key: string) {
    this.secret = secret;
    this.key = key;
  }
}

/** Variables of the collectors' container, as `podTemplate` sets them. */
export type PodEnvironment = ReadonlyMap<string, string | SecretValue>;

/** What is not a plain value or a key of a Secret differs from pod to pod, or is unknown: it is left out. */
export function podEnvironment(podTemplate: unknown): PodEnvironment {
  const spec = isFields(podTemplate) && isFields(podTemplate["spec"]) ? podTemplate["spec"] : {};
  const containers = list(spec["containers"]).filter(isFields);
  const container = containers.find(({ name }) => name === COLLECTOR_CONTAINER);
  const variables = list(container?.["env"]).filter(isFields);
  return new Map(variables.flatMap(entryOf));
}

function entryOf({ name, value, valueFrom }: Readonly<Record<string, unknown>>): [string, string | SecretValue][] {
  if (typeof name !== "string") return [];
  if (typeof value === "string") return [[name, value]];
  const reference = isFields(valueFrom) ? valueFrom["secretKeyRef"] : undefined;
  if (!isFields(reference)) return [];
  const { name: secret, key } = reference;
  return typeof secret === "string" && typeof key === "string" ? [[name, new SecretValue(secret, key)]] : [];
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
