import { bytesField, textField, varintField } from "../src/bodies/protobuf-wire.ts";

const MAGIC = Buffer.from("k8s\0");
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
const labels = (number: number, all: Readonly<Record<string, string>>): Buffer =>
  message(
    ...Object.entries(all).map(([key, value]) => bytesField(number, message(textField(1, key), textField(2, value)))),
  );

function body(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const type = message(textField(1, apiVersion), textField(2, kind));
  const rest = message(textField(3, ""), textField(4, ""));
  return message(MAGIC, bytesField(1, type), bytesField(2, raw), rest);
}

const replicasField = (replicas: number | undefined): Buffer =>
  replicas === undefined ? Buffer.alloc(0) : varintField(1, replicas);

/**
 * A Deployment as a typed client of Go sends it, with fields that the proxy has no schema of: the working directory of
 * the container, and minReadySeconds.
 */
export function deploymentProtobuf(name: string, replicas: number | undefined, image: string): Buffer {
  const own = { app: name };
  const metadata = bytesField(1, message(textField(1, name), textField(3, "default"), labels(11, own)));
  const requests = bytesField(2, message(textField(1, "cpu"), bytesField(2, textField(1, "100m"))));
  const container = message(textField(1, "main"), textField(2, image), textField(5, "/work"), bytesField(8, requests));
  const template = message(bytesField(1, labels(11, own)), bytesField(2, bytesField(2, container)));
  const selector = bytesField(2, labels(1, own));
  const spec = message(replicasField(replicas), selector, bytesField(3, template), varintField(5, 7));
  return body("apps/v1", "Deployment", message(metadata, bytesField(2, spec), bytesField(3, Buffer.alloc(0))));
}

export function scaleProtobuf(name: string, replicas: number): Buffer {
  const metadata = bytesField(1, message(textField(1, name), textField(3, "default")));
  const raw = message(metadata, bytesField(2, replicasField(replicas)), bytesField(3, Buffer.alloc(0)));
  return body("autoscaling/v1", "Scale", raw);
}

export function claimProtobuf(
  name: string,
  sent: { readonly volumeName: string; readonly finalizers: readonly string[]; readonly owner: string },
): Buffer {
  const { volumeName, finalizers, owner } = sent;
  const about = [textField(1, name), textField(3, "default"), labels(11, { sent: "1" })];
  const reference = message(
    textField(1, "Store"),
    textField(3, owner),
    textField(4, `uid-of-${owner}`),
    textField(5, "example.com/v1"),
  );
  const marks = [bytesField(13, reference), ...finalizers.map((one) => textField(14, one))];
  const metadata = bytesField(1, message(...about, ...marks));
  const spec = bytesField(2, message(textField(1, "ReadWriteOnce"), textField(3, volumeName)));
  return body("v1", "PersistentVolumeClaim", message(metadata, spec, bytesField(3, Buffer.alloc(0))));
}
