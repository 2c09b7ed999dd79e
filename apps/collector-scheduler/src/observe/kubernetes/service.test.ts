import { describe, expect, test } from "@jest/globals";
import type { Service } from "@evenkeel/kube";
import { type Around, shown, surroundingsOf } from "../../../test/surroundings-of.ts";
import { serviceGroup } from "./service.ts";

const metadata = { namespace: "shop", name: "web", labels: { app: "web" }, annotations: { "a/b": "c" } };
const ports = [{ name: "http", port: 80, protocol: "TCP" }];
const labels = {
  "k:namespace": "shop",
  "k:service_name": "web",
  "k:service_label_app": "web",
  "k:service_labelpresent_app": "true",
  "k:service_annotation_a_b": "c",
  "k:service_annotationpresent_a_b": "true",
};
const target = {
  __address__: "web.shop.svc:80",
  "k:service_port_name": "http",
  "k:service_port_number": "80",
  "k:service_port_protocol": "TCP",
};

const group = (service: Omit<Service, "metadata">, around: Around = {}) =>
  shown(serviceGroup({ metadata, ...service }, surroundingsOf(around)));

describe("role service", () => {
  test.each<[string, Omit<Service, "metadata">, object]>([
    [
      "with a cluster address",
      { spec: { ports, type: "ClusterIP", clusterIP: "10.0.0.1" } },
      { "k:service_type": "ClusterIP", "k:service_cluster_ip": "10.0.0.1" },
    ],
    [
      "that is headless",
      { spec: { ports, type: "ClusterIP", clusterIP: "None" } },
      { "k:service_type": "ClusterIP", "k:service_cluster_ip": "None" },
    ],
    [
      "with an external name",
      { spec: { ports, type: "ExternalName", externalName: "db.example.com" } },
      { "k:service_type": "ExternalName", "k:service_external_name": "db.example.com" },
    ],
    [
      "with addresses of its load balancer",
      {
        spec: { ports, type: "LoadBalancer", clusterIP: "10.0.0.1", loadBalancerIP: "192.0.2.9" },
        status: {
          loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "lb.example.com" }, { ip: "192.0.2.2" }] },
        },
      },
      {
        "k:service_type": "LoadBalancer",
        "k:service_cluster_ip": "10.0.0.1",
        "k:service_loadbalancer_ip": "192.0.2.1,192.0.2.2",
      },
    ],
    [
      "with an address that it asks its load balancer for",
      { spec: { ports, type: "LoadBalancer", clusterIP: "10.0.0.1", loadBalancerIP: "192.0.2.9" } },
      {
        "k:service_type": "LoadBalancer",
        "k:service_cluster_ip": "10.0.0.1",
        "k:service_loadbalancer_ip": "192.0.2.9",
      },
    ],
    [
      "that is no load balancer and has such an address",
      { spec: { ports, type: "NodePort", clusterIP: "10.0.0.1", loadBalancerIP: "192.0.2.9" } },
      { "k:service_type": "NodePort", "k:service_cluster_ip": "10.0.0.1" },
    ],
  ])("has a target of a Service %s", (_what, service, more) => {
    expect(group(service)).toEqual({ source: "svc/shop/web", labels, targets: [{ ...target, ...more }] });
  });

  test("has one target for each port, and none without ports", () => {
    const two = [...ports, { name: "admin", port: 8080, protocol: "TCP" }];
    const { targets } = group({ spec: { ports: two, type: "ClusterIP" } });
    expect(targets.map((each) => each["__address__"])).toEqual(["web.shop.svc:80", "web.shop.svc:8080"]);
    expect(group({ spec: { type: "ClusterIP" } }).targets).toEqual([]);
  });

  test("has the metadata of its namespace where it is attached", () => {
    const namespaces = [{ metadata: { name: "shop", labels: { team: "a" } } }];
    expect(group({ spec: { ports } }, { namespaces }).labels).toEqual({
      ...labels,
      "k:namespace_label_team": "a",
      "k:namespace_labelpresent_team": "true",
    });
  });
});
