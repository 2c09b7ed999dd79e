import { describe, expect, test } from "@jest/globals";
import { effectiveRequests, scoredRequests } from "./requests.ts";

const container = (cpu: string, memory: string, more: object = {}) => ({
  name: `${cpu}-${memory}`,
  resources: { requests: { cpu, memory } },
  ...more,
});
const MEBIBYTE = 2 ** 20;

describe("effective requests", () => {
  test("are those of all containers and the overhead", () => {
    const spec = { containers: [container("250m", "1Mi"), container("1", "2Mi")], overhead: { cpu: "10m" } };
    expect(effectiveRequests(spec)).toEqual({ cpu: 1260, memory: 3 * MEBIBYTE });
  });

  test("are at least those of the largest init step, with the sidecars that run by then", () => {
    const spec = {
      containers: [container("100m", "1Mi")],
      initContainers: [
        container("150m", "1Mi"),
        container("200m", "1Mi", { restartPolicy: "Always" }),
        container("500m", "1Mi"),
      ],
    };
    expect(effectiveRequests(spec)).toEqual({ cpu: 700, memory: 2 * MEBIBYTE });
  });

  test("of the pod replace the sum of its containers", () => {
    const spec = {
      containers: [container("100m", "1Mi")],
      resources: { requests: { cpu: "2", "example.com/x": "1" } },
    };
    expect(effectiveRequests(spec)).toEqual({ cpu: 2000, memory: MEBIBYTE });
  });

  test("of a container that is being resized are the largest of what it wants, was promised and has", () => {
    const spec = { containers: [{ name: "main", resources: { requests: { cpu: "1" } } }] };
    const resources = { requests: { cpu: "2" } };
    const status = { containerStatuses: [{ name: "main", resources, allocatedResources: { cpu: "3" } }] };
    expect(effectiveRequests(spec, status)).toEqual({ cpu: 3000 });
    const wanted = { containers: [{ name: "main", resources: { requests: { cpu: "9" } } }] };
    expect(effectiveRequests(wanted, status)).toEqual({ cpu: 9000 });
    const conditions = [{ type: "PodResizePending", reason: "Infeasible" }];
    expect(effectiveRequests(wanted, { ...status, conditions })).toEqual({ cpu: 3000 });
  });

  test("of a quantity that cannot be read are unknown, not zero", () => {
    expect(effectiveRequests({ containers: [container("much", "1Mi")] })["cpu"]).toBeNaN();
  });

  test("count 100m and 200Mi in scores for each container without them", () => {
    const containers = [
      container("1", "1Mi"),
      { name: "none" },
      { name: "zero", resources: { requests: { cpu: "0" } } },
    ];
    expect(scoredRequests({ containers })).toEqual({ cpu: 1100, memory: 401 * MEBIBYTE });
  });
});
