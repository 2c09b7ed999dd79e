import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { eventually } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import { fleetWorld, statefulSet, staticFleet } from "./fleet-world.ts";

test("over TLS, collectors get the CA and the target API has the service's certificate", async () => {
  await using world = await fleetWorld();
  const [cert, key] = [join(world.folder, "tls.crt"), join(world.folder, "tls.key")];
  const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", ...form, ...names, "-keyout", key, "-out", cert], { stdio: "pipe" });
  world.load(staticFleet("sample", 6));
  const files = [`--tls-cert-file=${cert}`, `--tls-key-file=${key}`, `--tls-ca-file=${cert}`];
  const service = world.serve(["--insecure=false", ...files]);

  const url = (await service.url("targets", "/jobs")).replace("http:", "https:");
  await eventually(async () => expect(await statusOf(url, readFileSync(cert))).toBe(200));
  await eventually(async () => {
    const { data } = await world.read<{ data: Record<string, string> }>(
      "api/v1/namespaces/default/configmaps/sample-collector",
    );
    expect(data["ca.crt"]).toBe(readFileSync(cert, "utf8"));
    expect(data["collector.yaml"]).toContain("ca_file: /etc/evenkeel/collector/ca.crt");
  });
  await eventually(async () =>
    expect(await world.read(statefulSet("sample"))).toMatchObject({
      spec: { template: { spec: { volumes: [{ configMap: { name: "sample-collector" } }] } } },
    }),
  );
}, 60_000);

function statusOf(url: string, ca: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { ca }, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
  });
}
