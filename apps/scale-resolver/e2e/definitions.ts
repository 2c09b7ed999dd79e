const GATEWAY = "gateway.networking.k8s.io";

const text = { type: "string" } as const;
const whole = { type: "integer", format: "int32" } as const;
/** Fields that tests do not read and that must be preserved. */
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
const counted = { ...open, properties: { replicas: whole } };
const texts = { type: "object", additionalProperties: text } as const;
const headerChanges = object({ set: texts, add: texts, remove: listOf(text) });

/**
 * VirtualService of Istio, with the shape and the rules of its destinations:
 * https://istio.io/latest/docs/reference/config/networking/virtual-service/
 */
const destination = object(
  {
    host: text,
    subset: text,
    port: object({ number: { type: "integer", minimum: 0, maximum: 4_294_967_295 } }),
  },
  "host",
);
const weighted = object(
  { destination, weight: whole, headers: object({ request: headerChanges, response: headerChanges }) },
  "destination",
);
const virtualServices = definition("networking.istio.io", "v1", "VirtualService", {
  ...open,
  properties: { http: listOf({ ...open, properties: { route: listOf(weighted) } }) },
});

/**
 * HTTPRoute of the Gateway API, with what its server fills in and refuses about backends:
 * https://gateway-api.sigs.k8s.io/reference/spec/
 */
const header = object({ name: text, value: text }, "name", "value");
const filters = {
  ...listOf({
    ...open,
    required: ["type"],
    properties: {
      type: text,
      requestHeaderModifier: object({ set: listOf(header), add: listOf(header), remove: listOf(text) }),
    },
  }),
  maxItems: 16,
  "x-kubernetes-validations": [
    rule(
      "RequestHeaderModifier filter cannot be repeated",
      "self.filter(f, f.type == 'RequestHeaderModifier').size() <= 1",
    ),
  ],
};
const backend = {
  ...object(
    {
      group: { ...text, default: "" },
      kind: { ...text, default: "Service" },
      name: text,
      namespace: text,
      port: { ...whole, minimum: 1, maximum: 65_535 },
      weight: { ...whole, default: 1, minimum: 0 },
      filters,
    },
    "name",
  ),
  "x-kubernetes-validations": [
    rule(
      "Must have port for Service reference",
      "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
    ),
  ],
};
const everything = [{ path: { type: "PathPrefix", value: "/" } }];
const httpRoutes = definition(GATEWAY, "v1", "HTTPRoute", {
  ...open,
  properties: {
    rules: {
      ...listOf({
        ...open,
        properties: {
          matches: { ...listOf(open), default: everything },
          backendRefs: { ...listOf(backend), maxItems: 16 },
        },
      }),
      maxItems: 16,
    },
  },
});

const referenceGrants = definition(
  GATEWAY,
  "v1beta1",
  "ReferenceGrant",
  object(
    {
      from: listOf(object({ group: text, kind: text, namespace: text }, "group", "kind", "namespace")),
      to: listOf(object({ group: text, kind: text, name: text }, "group", "kind")),
    },
    "from",
    "to",
  ),
);

const rollouts = definition("argoproj.io", "v1alpha1", "Rollout", counted, {
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
});
const scaledObjects = definition("keda.sh", "v1alpha1", "ScaledObject", open);

/** As much of the kinds of others as the resolver has to do with. */
export const DEFINITIONS = [rollouts, scaledObjects, virtualServices, httpRoutes, referenceGrants];

function object(properties: Readonly<Record<string, object>>, ...required: readonly string[]) {
  return { type: "object", properties, ...(required.length > 0 && { required }) } as const;
}

/** An atomic list, as in these kinds: a client that writes one entry writes all. */
function listOf(items: object) {
  return { type: "array", items, "x-kubernetes-list-type": "atomic" } as const;
}

function rule(message: string, expression: string) {
  return { message, rule: expression };
}

function definition(group: string, version: string, kind: string, spec: object, subresources: object = {}) {
  const plural = `${kind.toLowerCase()}s`;
  const annotations = { "api-approved.kubernetes.io": "unapproved, a stand-in for tests" };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec, status: counted } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema, subresources }],
    },
  };
}
