import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeRedis, freePorts, openedState, RedisServer } from "../src/index.ts";

describeRedis("Redis over TLS", () => {
  let server: RedisServer;
  let address: string;
  let certificate: string;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "evenkeel-tls-"));
    const key = join(folder, "key.pem");
    certificate = join(folder, "certificate.pem");
    const subject = ["-subj", "/CN=redis", "-addext", "subjectAltName=IP:127.0.0.1"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    execFileSync("openssl", ["req", "-x509", ...curve, ...subject, "-keyout", key, "-out", certificate], {
      stdio: "ignore",
    });
    const [port = 0] = await freePorts(1);
    const files = ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no"];
    server = await RedisServer.start("none", ["--tls-port", String(port), ...files]);
    address = `rediss://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await server.end();
    rmSync(folder, { recursive: true });
  });

  test("a certificate of an authority that the process trusts is taken", () => {
    const script = `
      import { openedState } from "../src/opened-state.ts";
      const { state, close } = await openedState(${JSON.stringify(address)});
      await state.records.put("object", "value", 1, { expected: "any", fence: "unfenced" });
      process.stdout.write(JSON.stringify((await state.records.get("object", "value")).value));
      await close();`;
    const trusting = { ...process.env, NODE_EXTRA_CA_CERTS: certificate };
    const args = ["--no-warnings", "--input-type=module", "--eval", script];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: trusting,
      cwd: import.meta.dirname,
    });
    expect({ stdout, stderr }).toEqual({ stdout: "1", stderr: "" });
  });

  test("a certificate that nobody vouches for is refused, and the log says so", async () => {
    const { state, lines, close } = await openedState(address);
    expect(state.available).toBe(false);
    expect(lines.join("")).toMatch(/rediss:.*certificate/);
    await close();
  });
});
