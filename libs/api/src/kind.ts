import { z } from "zod";
import { objectMeta } from "./metadata.ts";

/** A column of `kubectl get`. Those with a priority above 0 show with `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly priority?: number;
}

/** Where the scale subresource finds its numbers, as JSON paths. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string;
}

/** Everything the API server is told about a kind but its schema. Every kind has the status subresource. */
export interface KindNames {
  /** The service that reconciles it. Its chart installs the CRD. */
  readonly service: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  /** What `kubectl explain` says of it. */
  readonly description: string;
  /** None: the API server shows name and age. */
  readonly printerColumns: readonly PrinterColumn[];
  readonly scale?: ScalePaths;
}

/** A custom resource: its names, and the schema that its types, its defaults and its CRD come from. */
export interface Kind<Schema extends z.ZodObject = z.ZodObject> extends KindNames {
  readonly schema: Schema;
}

/** What is read from the API server is never changed in place. */
type Immutable<Value> = Value extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Immutable<Value[Name]> }
    : Value;

/** The status of a kind's objects, as its schema describes it. */
export type StatusOf<K extends Kind<z.ZodObject<{ status: z.ZodExactOptional<z.ZodType> }>>> = Immutable<
  NonNullable<z.output<K["schema"]>["status"]>
>;

/** The spec of a kind's objects, with the defaults filled in. */
export type SpecOf<K extends Kind<z.ZodObject<{ spec: z.ZodType }>>> = Immutable<z.output<K["schema"]>["spec"]>;

type Resource<Names extends KindNames, Spec extends z.ZodType, Status extends z.ZodType> = z.ZodObject<{
  apiVersion: z.ZodLiteral<`${Names["group"]}/${Names["version"]}`>;
  kind: z.ZodLiteral<Names["kind"]>;
  metadata: typeof objectMeta;
  spec: Spec;
  status: z.ZodExactOptional<Status>;
}>;

/**
 * A kind from its names, its spec and its status. The CRD never requires `spec`, since the originals' do not: an object
 * without one is stored, and the service that parses it reports it or, where the spec is a prefault, takes the
 * defaults.
 */
export function defineKind<const Names extends KindNames, Spec extends z.ZodType, Status extends z.ZodType>(
  names: Names,
  parts: { readonly spec: Spec; readonly status: Status },
): Names & Kind<Resource<Names, Spec, Status>> {
  const apiVersion: `${Names["group"]}/${Names["version"]}` = `${names.group}/${names.version}`;
  const kind: Names["kind"] = names.kind;
  const schema = z.object({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: objectMeta,
    spec: parts.spec,
    status: parts.status.exactOptional(),
  });
  return { ...names, schema };
}
