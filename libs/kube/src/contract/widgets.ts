import { eventually } from "@evenkeel/runtime/testing";
import type { KubeObject, ResourceTypeOf } from "../objects/object.ts";
import { type CustomResourceDefinition, customResourceDefinitions } from "../objects/resource-types.ts";
import type { World } from "./world.ts";

/** The suite's custom resource, with one field for each feature of a schema. */
export interface Widget extends KubeObject {
  readonly spec: {
    readonly size?: number;
    readonly color?: string;
    readonly label?: string;
    readonly amount?: number | string;
    readonly tags?: readonly string[];
    readonly parts?: readonly { readonly name: string; readonly weight?: number }[];
    readonly limits?: { readonly low?: number; readonly high?: number };
    readonly extra?: Readonly<Record<string, unknown>>;
  };
  readonly status?: WidgetStatus;
}

export interface WidgetStatus {
  readonly ready?: number;
  readonly selector?: string;
}

const GROUP = "contract.evenkeel.io";

export const widgets: ResourceTypeOf<Widget> = {
  group: GROUP,
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

const spec = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 1, maximum: 10, default: 3 },
    color: { type: "string", enum: ["red", "green", "blue"], default: "red" },
    label: {
      type: "string",
      pattern: "^[a-z]*$",
      maxLength: 20,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "label cannot be changed" }],
    },
    amount: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
    tags: { type: "array", maxItems: 3, items: { type: "string" }, "x-kubernetes-list-type": "set" },
    parts: {
      type: "array",
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, weight: { type: "integer" } },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
    },
    limits: {
      type: "object",
      properties: {
        low: { type: "integer", default: 1 },
        high: { type: "integer", default: 10 },
        note: { type: "string" },
      },
      "x-kubernetes-validations": [{ rule: "self.low <= self.high", message: "low must not exceed high" }],
    },
    extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
} as const;

const status = { type: "object", properties: { ready: { type: "integer" }, selector: { type: "string" } } } as const;

export function widgetDefinition(plural: string, kind: string): CustomResourceDefinition {
  return {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", required: ["spec"], properties: { spec, status } } },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.size",
              statusReplicasPath: ".status.ready",
              labelSelectorPath: ".status.selector",
            },
          },
          additionalPrinterColumns: [
            { name: "Size", type: "integer", jsonPath: ".spec.size" },
            { name: "Color", type: "string", jsonPath: ".spec.color" },
            { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
          ],
        },
      ],
    },
  };
}

/** Applies the definition and resolves when widgets can be created. */
export async function createWidgetType(world: World): Promise<void> {
  const definitions = world.admin.resource(customResourceDefinitions);
  const definition = widgetDefinition("widgets", "Widget");
  await definitions.apply(definition, { fieldManager: "contract" });
  await eventually(async () => {
    const read = await definitions.get({ name: definition.metadata.name ?? "" });
    const established = read.status?.conditions?.some(
      ({ type, status: is }) => type === "Established" && is === "True",
    );
    if (established !== true || !(await world.admin.serves(widgets))) return false;
    await world.admin.resource(widgets).list();
    return true;
  });
}
