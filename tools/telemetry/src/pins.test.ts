import { describe, expect, test } from "@jest/globals";
import { PROGRAMS, readPins, versionKey } from "./pins.ts";

const RECEIVER = "github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver";

describe("the version key", () => {
  const pins = {
    "otelcol/go.mod": `require ${RECEIVER} v0.164.1`,
    "prometheus/go.sum": "h1:a",
    "otelcol/main.go": "package main",
  };
  const key = versionKey(pins, "linux-x64");

  test("begins with the version of the receiver and is fit for a folder's name", () => {
    expect(key).toMatch(/^v0\.164\.1-[0-9a-f]{12}$/);
    expect(versionKey(structuredClone(pins), "linux-x64")).toBe(key);
  });

  test.each(Object.keys(pins) as (keyof typeof pins)[])("changes with %s", (file) => {
    expect(versionKey({ ...pins, [file]: `${pins[file]}\n// x` }, "linux-x64")).not.toBe(key);
  });

  test("changes with the platform", () => {
    expect(versionKey(pins, "linux-arm64")).not.toBe(key);
  });
});

describe("the Go modules", () => {
  const pins = readPins();

  test("have checksums, and the source of each program of our own", () => {
    expect(Object.keys(pins)).toEqual(
      expect.arrayContaining([
        ...["otelcol/go.mod", "otelcol/go.sum", "otelcol/main.go"],
        ...["prometheus/go.mod", "prometheus/go.sum", "prometheus/relabel-oracle/main.go"],
      ]),
    );
  });

  test("have the same version of Prometheus, with promtool as a tool", () => {
    const [receiver, prometheus] = ["otelcol", "prometheus"].map((module) =>
      /prometheus\/prometheus (v\S+)/.exec(pins[`${module}/go.mod`] ?? ""),
    );
    expect(prometheus?.[1]).toBe("v0.315.0");
    expect(receiver?.[1]).toBe("v0.315.0");
    expect(pins["prometheus/go.mod"]).toContain(`tool ${PROGRAMS.promtool.package}`);
  });
});
