import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MetricRegistry } from "@evenkeel/metrics";
import { systemClock } from "@evenkeel/runtime";
import { eventually, hasCommand, silentLog } from "@evenkeel/runtime/testing";
import type { MetricReading } from "../src/decide/snapshot.ts";
import { metrics } from "../src/metrics.ts";
import type { PrometheusSpec } from "../src/observe/prometheus/authorization.ts";
import { PrometheusSources } from "../src/observe/prometheus/prometheus-sources.ts";
import type { SecretReader } from "../src/observe/secret-reader.ts";

/** What the server's certificate is for: no address of loopback, so that `serverName` is needed. */
const SERVER_NAME = "prometheus.example.com";

const never = new AbortController().signal;

if (hasCommand("prometheus") && hasCommand("openssl"))
  describe("a real Prometheus that asks for a client's certificate", secured);
else
  test.skip("a real Prometheus with TLS: it or openssl is not installed (Debian: prometheus, openssl)", () =>
    undefined);

function secured(): void {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-prometheus-tls-"));
  const file = (name: string) => join(folder, name);
  let prometheus: ChildProcess;
  let address: string;

  /** The PEM files of the folder are the Secrets: a name and `crt` or `key`. */
  const secrets: SecretReader = {
    read: (_namespace, { name = "", key = "" }) => Promise.resolve(readFileSync(file(`${name}.${key}`), "utf8")),
  };
  const sources = new PrometheusSources({
    clock: systemClock,
    log: silentLog(),
    secrets,
    proxyFor: () => undefined,
    queries: new MetricRegistry().register({ queries: metrics.queries }).queries,
  });

  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const authority = (name: string) =>
    openssl(
      ...["req", "-x509", ...EC, "-days", "2", "-subj", `/CN=${name}`],
      ...["-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)],
    );
  const issue = (name: string, usage: string) => {
    writeFileSync(file("names.cnf"), `subjectAltName=DNS:${SERVER_NAME}\nextendedKeyUsage=${usage}\n`);
    openssl("req", ...EC, "-subj", `/CN=${name}`, "-keyout", file(`${name}.key`), "-out", file(`${name}.csr`));
    openssl(
      ...["x509", "-req", "-in", file(`${name}.csr`), "-CA", file("ca.crt"), "-CAkey", file("ca.key")],
      ...["-CAcreateserial", "-days", "1", "-extfile", file("names.cnf"), "-out", file(`${name}.crt`)],
    );
  };

  beforeAll(async () => {
    authority("ca");
    authority("stranger");
    issue("server", "serverAuth");
    issue("client", "clientAuth");
    const tls = { cert_file: "server.crt", key_file: "server.key", client_ca_file: "ca.crt" };
    const web = { tls_server_config: { ...tls, client_auth_type: "RequireAndVerifyClientCert" } };
    writeFileSync(file("web.yml"), JSON.stringify(web));
    writeFileSync(file("config.yml"), "global: { scrape_interval: 1h }\n");
    const port = await freePort();
    address = `https://127.0.0.1:${port}`;
    prometheus = spawn(
      "prometheus",
      [
        `--config.file=${file("config.yml")}`,
        `--web.config.file=${file("web.yml")}`,
        `--storage.tsdb.path=${file("data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: "ignore" },
    );
    await serving();
  }, 60_000);
  afterAll(async () => {
    await sources.stop();
    const gone = once(prometheus, "exit");
    prometheus.kill("SIGKILL");
    await gone;
    rmSync(folder, { recursive: true });
  });

  const ask = (tls: PrometheusSpec["tls"], more: Partial<PrometheusSpec> = {}): Promise<MetricReading> =>
    sources
      .source("default", { address, query: "42", timeout: 10, ...(tls === undefined ? {} : { tls }), ...more })
      .read(never);

  const CA = { caSecretRef: { name: "ca", key: "crt" } };
  const CLIENT = { certSecretRef: { name: "client", key: "crt" }, keySecretRef: { name: "client", key: "key" } };

  /** Resolves when a client with all that is asked for gets its answer. */
  async function serving(): Promise<void> {
    await eventually(async () => {
      if (prometheus.exitCode !== null) throw new Error(`Prometheus ended: ${prometheus.exitCode}`);
      expect(await ask({ ...CA, ...CLIENT, serverName: SERVER_NAME })).toMatchObject({ value: "42" });
    }, 30_000);
  }

  test("answers who trusts its authority, names it and shows a certificate", async () => {
    expect(await ask({ ...CA, ...CLIENT, serverName: SERVER_NAME })).toMatchObject({
      source: `prometheus ${address}`,
      value: "42",
      fault: null,
    });
  });

  test("answers who takes any certificate", async () => {
    expect((await ask({ ...CLIENT, insecureSkipVerify: true })).value).toBe("42");
  });

  test.each<[string, PrometheusSpec["tls"], RegExp]>([
    ["the system's authorities alone", { ...CLIENT, serverName: SERVER_NAME }, /caSecretRef/],
    [
      "another authority",
      { ...CLIENT, caSecretRef: { name: "stranger", key: "crt" }, serverName: SERVER_NAME },
      /caSecretRef/,
    ],
    ["another name", { ...CA, ...CLIENT }, /127\.0\.0\.1.*serverName/],
    ["no certificate of its own", { ...CA, serverName: SERVER_NAME }, /certSecretRef/],
    [
      "a key for a certificate",
      { ...CA, certSecretRef: { name: "client", key: "key" }, keySecretRef: { name: "client", key: "key" } },
      /certSecretRef/,
    ],
    [
      "a certificate that its authority did not issue",
      {
        ...CA,
        certSecretRef: { name: "stranger", key: "crt" },
        keySecretRef: { name: "stranger", key: "key" },
        serverName: SERVER_NAME,
      },
      /certSecretRef/,
    ],
  ])("gives no number to who has %s, and says what to look at", async (_name, tls, message) => {
    const reading = await ask(tls);
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
    expect(reading.message).toMatch(message);
    expect(reading.message).not.toContain("PRIVATE KEY");
  });

  test("gives no number to who speaks plain HTTP", async () => {
    const reading = await ask(undefined, { address: address.replace("https:", "http:") });
    expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
  });

  test("gives no number while it stands still, and answers when it goes on", async () => {
    const tls = { ...CA, ...CLIENT, serverName: SERVER_NAME };
    prometheus.kill("SIGSTOP");
    try {
      await eventually(() => expect(stateOf(prometheus)).toBe("T"));
      const reading = await ask(tls, { timeout: 1 });
      expect(reading).toMatchObject({ value: null, fault: "QueryFailed" });
      expect(reading.message).toContain("1 s");
    } finally {
      prometheus.kill("SIGCONT");
    }
    expect((await ask(tls)).value).toBe("42");
  });
}

/** As the kernel says it: T for a process of which every thread is stopped. */
function stateOf({ pid = 0 }: ChildProcess): string {
  const states = readdirSync(`/proc/${pid}/task`).map(
    (task) => / (\S) /.exec(readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8").replace(/^.*\)/, ""))?.[1] ?? "",
  );
  return [...new Set(states)].join("");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
