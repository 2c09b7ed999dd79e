import { expect, test } from "@jest/globals";
import { at } from "./json-text.ts";
import { parseObject } from "./object-body.ts";
import { bytesField, readFields, textField, varintField } from "./protobuf-wire.ts";

const TYPE = "application/vnd.kubernetes.protobuf";
const message = (...fields: Buffer[]) => Buffer.concat(fields);
const wrapped = (raw: Buffer) =>
  Buffer.concat([
    Buffer.from("k8s\0"),
    bytesField(1, message(textField(1, "apps/v1"), textField(2, "Deployment"))),
    bytesField(2, raw),
    textField(3, ""),
    textField(4, ""),
  ]);

const requests = bytesField(2, message(textField(1, "cpu"), bytesField(2, textField(1, "250m"))));
const container = message(textField(1, "main"), bytesField(8, requests), textField(99, "unknown"));
const label = (key: string, value: string) => bytesField(11, message(textField(1, key), textField(2, value)));
const template = message(bytesField(1, label("app", "web")), bytesField(2, bytesField(2, container)));
const metadata = message(textField(1, "web"), bytesField(13, textField(1, "owner")), label("app", "web"));
const spec = message(varintField(1, 10), bytesField(3, template), varintField(77, 7));
const DEPLOYMENT = wrapped(message(bytesField(1, metadata), bytesField(2, spec), textField(88, "unknown")));

test("protobuf is read as far as the proxy needs it", () => {
  const { view } = parseObject("Deployment", TYPE, DEPLOYMENT);
  expect(view).toMatchObject({
    metadata: { name: "web", labels: { app: "web" } },
    spec: {
      replicas: 10,
      template: {
        spec: {
          containers: [{ name: "main", resources: { requests: { cpu: "250m" } } }],
        },
      },
    },
  });
});

test("protobuf is edited on the wire, and every other byte is kept", () => {
  const edited = parseObject("Deployment", TYPE, DEPLOYMENT)
    .set(["spec", "replicas"], 4)
    .set(["spec", "template", "metadata", "labels", "cluster"], "b")
    .set(["metadata", "labels", "app"], "changed")
    .remove(["metadata", "ownerReferences"])
    .encode();
  expect(edited.contentType).toBe(TYPE);
  const newTemplate = message(
    bytesField(1, message(label("app", "web"), label("cluster", "b"))),
    bytesField(2, bytesField(2, container)),
  );
  const newSpec = message(varintField(1, 4), bytesField(3, newTemplate), varintField(77, 7));
  const newMetadata = message(textField(1, "web"), label("app", "changed"));
  const expected = message(bytesField(1, newMetadata), bytesField(2, newSpec), textField(88, "unknown"));
  const raw = readFields(edited.body.subarray(4)).find(({ number }) => number === 2)?.content;
  expect(raw?.toString("hex")).toBe(expected.toString("hex"));
});

test("an edit that changes nothing gives the same object", () => {
  const { body } = parseObject("Deployment", TYPE, DEPLOYMENT).set(["spec", "replicas"], 10).encode();
  expect(at(parseObject("Deployment", TYPE, body).view, ["spec", "replicas"])).toBe(10);
  expect(body.length).toBe(DEPLOYMENT.length);
});

test.each([
  ["no envelope", Buffer.from("abc")],
  ["a field that is cut short", wrapped(message(bytesField(1, metadata)).subarray(0, 9))],
  ["field number 0", wrapped(Buffer.from([0x00, 0x01]))],
  ["an unknown wire type", wrapped(Buffer.from([0x0f, 0x01]))],
])("%s is a syntax error with the place", (_name, body) => {
  expect(() => parseObject("Deployment", TYPE, body)).toThrow(/at byte \d+/);
});

test("YAML and JSON give the same object", () => {
  const yaml = parseObject("Service", "application/yaml", Buffer.from("metadata: {name: a}\nx: 1.0\n"));
  const json = parseObject(
    "Service",
    "application/json; charset=utf-8",
    Buffer.from('{"metadata":{"name":"a"},"x":1.0}'),
  );
  expect(yaml.encode()).toEqual(json.encode());
});
