import { describe, expect, test } from "@jest/globals";
import type { Ingress } from "@evenkeel/kube";
import { type Around, shown, surroundingsOf } from "../../../test/surroundings-of.ts";
import { ingressGroup } from "./ingress.ts";

const metadata = { namespace: "shop", name: "web", labels: { app: "web" } };
const labels = {
  "k:namespace": "shop",
  "k:ingress_name": "web",
  "k:ingress_label_app": "web",
  "k:ingress_labelpresent_app": "true",
};
type Spec = NonNullable<Ingress["spec"]>;
const group = (spec: Spec, around: Around = {}) => shown(ingressGroup({ metadata, spec }, surroundingsOf(around)));
const backend = { service: { name: "web" } };
const paths = (...each: readonly (string | undefined)[]) => ({
  paths: each.map((path) => ({ backend, pathType: "Prefix", ...(path !== undefined && { path }) })),
});
const target = (host: string, scheme: string, path: string) => ({
  __address__: host,
  "k:ingress_host": host,
  "k:ingress_scheme": scheme,
  "k:ingress_path": path,
});

describe("role ingress", () => {
  test("has one target for each path of a rule, and / for a rule without paths or an empty path", () => {
    const rules = [{ host: "a.example.com", http: paths("/", "/foo", undefined) }, { host: "b.example.com" }];
    expect(group({ rules, ingressClassName: "nginx" })).toEqual({
      source: "ingress/shop/web",
      labels: { ...labels, "k:ingress_class_name": "nginx" },
      targets: [
        target("a.example.com", "http", "/"),
        target("a.example.com", "http", "/foo"),
        target("a.example.com", "http", "/"),
        target("b.example.com", "http", "/"),
      ],
    });
  });

  test.each([
    ["a.example.com", ["a.example.com"], "https"],
    ["a.example.com", ["b.example.com", "*.example.com"], "https"],
    ["a.b.example.com", ["*.example.com"], "http"],
    ["example.com", ["*.example.com"], "http"],
    ["a.example.com", ["*.example.org"], "http"],
    ["a.example.com", ["a.*.com"], "http"],
    ["a.example.com", [], "http"],
  ])("reaches %s, with certificates for %j, by %s", (host, hosts, scheme) => {
    expect(group({ rules: [{ host }], tls: [{ hosts }] }).targets).toEqual([target(host, scheme, "/")]);
  });

  test("has a target without an address for a rule without a host", () => {
    expect(group({ rules: [{ http: paths("/x") }] }).targets).toEqual([
      { "k:ingress_scheme": "http", "k:ingress_path": "/x" },
    ]);
  });

  test("has no targets without rules", () => {
    expect(group({ defaultBackend: { service: { name: "web", port: { number: 80 } } } }).targets).toEqual([]);
  });

  test("has the metadata of its namespace where it is attached", () => {
    const namespaces = [{ metadata: { name: "shop", annotations: { team: "a" } } }];
    expect(group({ rules: [{ host: "a" }] }, { namespaces }).labels).toEqual({
      ...labels,
      "k:namespace_annotation_team": "a",
      "k:namespace_annotationpresent_team": "true",
    });
  });
});
