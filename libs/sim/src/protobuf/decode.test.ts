import { describe, expect, test } from "@jest/globals";
import { ApiFault } from "../status.ts";
import { decodeProtobuf } from "./decode.ts";

type Part = readonly [number: number, value: number | string | Buffer | readonly Part[]];

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

/** A message of fields: texts, numbers and messages. */
function encode(parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map(([number, value]) => {
      if (typeof value === "number") return Buffer.from([...varint(number * 8), ...varint(value)]);
      const bytes = typeof value === "string" ? Buffer.from(value) : Buffer.isBuffer(value) ? value : encode(value);
      return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
    }),
  );
}

const body = (apiVersion: string, kind: string, raw: readonly Part[]): Buffer =>
  Buffer.concat([
    Buffer.from("k8s\0"),
    encode([
      [1, [[1, apiVersion], [2, kind]]], // prettier-ignore
      [2, raw],
      [3, ""],
      [4, ""],
    ]),
  ]);

function refusal(bytes: Buffer): number {
  try {
    decodeProtobuf(bytes);
    return 0;
  } catch (error) {
    if (error instanceof ApiFault) return error.code;
    throw error;
  }
}

describe("a protobuf body", () => {
  test("means the JSON that a client would have sent otherwise", () => {
    const labels: Part = [11, [[1, "app"], [2, "web"]]]; // prettier-ignore
    const port: Part = [6, [[1, ""], [2, 0], [3, 8080], [4, "TCP"]]]; // prettier-ignore
    const probe: Part = [11, [[1, [[2, [[1, "/"], [2, [[1, 1], [2, 0], [3, "http"]]]]]]], [2, 0]]]; // prettier-ignore
    const limits: Part = [8, [[1, [[1, "cpu"], [2, [[1, "500m"]]]]]]]; // prettier-ignore
    const container: Part = [2, [[1, "c"], [2, "i"], port, limits, probe]];
    const template: Part = [
      3,
      [
        [1, [labels]],
        [2, [container, [3, "Always"], [4, 0], [11, 0]]],
      ],
    ];
    const metadata: Part = [1, [[1, "web"], [2, ""], [3, "default"], [8, ""], labels]];
    const raw: Part[] = [metadata, [2, [[1, 0], [2, [[1, [[1, "app"], [2, "web"]]]]], template, [4, []], [7, 0]]]]; // prettier-ignore
    expect(decodeProtobuf(body("apps/v1", "Deployment", raw))).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default", labels: { app: "web" } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [
              {
                ...{ name: "c", image: "i", ports: [{ containerPort: 8080, protocol: "TCP" }] },
                ...{ resources: { limits: { cpu: "500m" } } },
                readinessProbe: { httpGet: { path: "/", port: "http" } },
              },
            ],
            ...{ restartPolicy: "Always", terminationGracePeriodSeconds: 0 },
          },
        },
        strategy: {},
      },
    });
  });

  test("has data of a ConfigMap as text, and binary data as base64", () => {
    const raw: Part[] = [
      [1, [[1, "a"]]],
      [2, [[1, "k"], [2, "v"]]], // prettier-ignore
      [3, [[1, "b"], [2, Buffer.from([0, 255])]]], // prettier-ignore
    ];
    expect(decodeProtobuf(body("v1", "ConfigMap", raw))).toMatchObject({ data: { k: "v" }, binaryData: { b: "AP8=" } });
  });

  test("of a kind without a table is not read", () => {
    expect(decodeProtobuf(body("v1", "Secret", []))).toBeUndefined();
  });

  test("that is cut off or no protobuf is a BadRequest, and one with an unknown field is said to be beyond the server", () => {
    const whole = body("v1", "Namespace", [[1, [[1, "a"]]]]);
    expect(refusal(whole.subarray(0, -12))).toBe(400);
    expect(refusal(Buffer.from("{}"))).toBe(400);
    expect(refusal(body("v1", "Namespace", [[99, "x"]]))).toBe(501);
  });
});
