import { describe, expect, test } from "@jest/globals";
import { PROGRAMS, readPins, versionKey } from "./pins.ts";

const RECEIVER = "github.com/open-telemetry/opentelemetry-collector-contrib/receiver/prometheusreceiver";

describe("the version key", () => {
  const pins = { "go.mod": `require ${RECEIVER} v0.164.1`, "go.sum": "h1:a", "otelcol/main.go": "package main" };
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

describe("the Go module", () => {
  const pins = readPins();

  test("has its checksums and the source of each program of our own", () => {
    expect(Object.keys(pins)).toEqual(
      expect.arrayContaining(["go.mod", "go.sum", "otelcol/main.go", "relabel-oracle/main.go"]),
    );
  });

  test("pins promtool as a tool, at the version of Prometheus that the receiver has", () => {
    expect(pins["go.mod"]).toContain(`tool ${PROGRAMS.promtool}`);
    expect(pins["go.mod"]).toMatch(/prometheus\/prometheus v0\.315\.0$/m);
  });
});
