import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { connect as tlsConnect, type TLSSocket } from "node:tls";
import { describe, expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { HttpServer, readSettings, splitCommandLine, systemClock } from "@evenkeel/runtime";
import { eventually } from "@evenkeel/runtime/testing";
import { CertificateFiles, resolverV1, rpcSettings, rpcTransport } from "../src/index.ts";
import { certificateMetrics } from "../src/metrics.ts";
import { any, endless, rememberedLog, resolver, startPeer, startServer } from "../src/testing/rpc-world.ts";
import { Authority, type Files } from "../src/testing/certificates.ts";

/** Reads the files once and then only when told to, until the test's end. */
async function certificatesOf(files: Partial<Files>) {
  const { log, lines } = rememberedLog();
  const registry = new MetricRegistry();
  const metrics = registry.register(certificateMetrics);
  const certificates = new CertificateFiles({ files, interval: 3_600_000, clock: systemClock, log, metrics });
  await certificates.start();
  return { certificates, lines, registry, [Symbol.dispose]: () => certificates.stop() };
}

/** The serial number of the certificate that a new connection to `port` is shown. */
function serialShown(port: number, files: Files): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = tlsConnect(
      {
        host: "127.0.0.1",
        port,
        ca: readFileSync(files.ca),
        cert: readFileSync(files.cert),
        key: readFileSync(files.key),
        ALPNProtocols: ["h2"],
      },
      () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      },
    );
    socket.once("error", reject);
  });
}

describe("TLS", () => {
  test("a peer that trusts the authority is answered, and one that trusts another is not", async () => {
    using authority = new Authority("ours");
    using stranger = new Authority("theirs");
    using ours = await certificatesOf(authority.issue("server"));
    using trusting = await certificatesOf({ ca: authority.issue("client").ca });
    using doubting = await certificatesOf({ ca: stranger.issue("client").ca });
    await using running = await startServer([any(resolver())], { transport: ours.certificates });
    using good = startPeer(running.address, { transport: trusting.certificates });
    using bad = startPeer(running.address, { transport: doubting.certificates });
    await expect(good.peer.client(resolverV1.ResolverDefinition).activity({})).resolves.toEqual({ services: [] });
    await expect(bad.peer.client(resolverV1.ResolverDefinition).activity({}, { retry: false })).rejects.toMatchObject({
      code: "EK_RPC_PEER_AWAY",
    });
  });

  test("plaintext is not answered on a TLS port", async () => {
    using authority = new Authority("ours");
    using ours = await certificatesOf(authority.issue("server"));
    await using running = await startServer([any(resolver())], { transport: ours.certificates });
    using plain = startPeer(running.address);
    await expect(plain.peer.client(resolverV1.ResolverDefinition).activity({}, { retry: false })).rejects.toMatchObject(
      {
        code: "EK_RPC_PEER_AWAY",
      },
    );
  });

  test("mTLS takes a caller with a certificate of the authority, and no caller without one or with another's", async () => {
    using authority = new Authority("ours");
    using stranger = new Authority("theirs");
    using ours = await certificatesOf(authority.issue("server"));
    await using running = await startServer([any(resolver())], { transport: ours.certificates, mtls: true });
    const client = authority.issue("client");
    const foreign = stranger.issue("client");
    using member = await certificatesOf(client);
    using nameless = await certificatesOf({ ca: client.ca });
    using outsider = await certificatesOf({ ...foreign, ca: client.ca });
    const outcomes = [];
    for (const { certificates } of [member, nameless, outsider]) {
      using peer = startPeer(running.address, { transport: certificates });
      const call = peer.peer.client(resolverV1.ResolverDefinition).activity({}, { retry: false });
      outcomes.push(
        await call.then(
          () => "answered",
          (error: unknown) => (error as { code?: string }).code,
        ),
      );
    }
    expect(outcomes).toEqual(["answered", "EK_RPC_PEER_AWAY", "EK_RPC_PEER_AWAY"]);
  });
});

describe("the admin port over TLS", () => {
  test("serves the certificate of gRPC, serves each renewal of it, and does not serve plaintext", async () => {
    using authority = new Authority("ours");
    const first = authority.issue("server");
    const settings = settingsOf([`--tls-cert-file=${first.cert}`, `--tls-key-file=${first.key}`, "--admin-tls"]);
    const admin = new HttpServer({
      name: "admin",
      host: "127.0.0.1",
      port: 0,
      flag: "admin-port",
      tls: settings.adminTls,
    });
    admin.routes.get("/metrics", () => "served");
    const { log } = rememberedLog();
    const registry = new MetricRegistry();
    const certificates = rpcTransport({ settings, clock: systemClock, log, registry, admin }) as CertificateFiles;
    await admin.start();
    try {
      await certificates.start();
      const { ca, serial } = first;
      expect(await getOverTls(admin.port, ca)).toEqual({ text: "served", serial });
      const renewed = authority.issue("server");
      await certificates.reload();
      expect(await getOverTls(admin.port, ca)).toEqual({ text: "served", serial: renewed.serial });
      await expect(fetch(`http://127.0.0.1:${admin.port}/metrics`)).rejects.toThrow();
    } finally {
      certificates.stop();
      await admin.stop(AbortSignal.abort());
    }
  });
});

function settingsOf(args: readonly string[]) {
  const reading = readSettings(rpcSettings, splitCommandLine(rpcSettings, args).flags, {});
  if (!reading.ok) throw new Error(reading.faults.join("\n"));
  return reading.settings;
}

/**
 * What a client that trusts the authority alone reads of the admin port, and the serial of the certificate that it saw.
 */
async function getOverTls(port: number, ca: string): Promise<{ text: string; serial: string }> {
  const asked = request({ host: "localhost", port, path: "/metrics", ca: readFileSync(ca), agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
  return { text: await text(response), serial };
}

describe("renewal", () => {
  test("under load, new connections get the new certificate, open streams go on, and no call fails", async () => {
    using authority = new Authority("ours");
    const first = authority.issue("server");
    using ours = await certificatesOf(first);
    using member = await certificatesOf(authority.issue("client"));
    const client = authority.issue("another");
    await using running = await startServer([any(resolver({ watch: () => endless() }))], {
      transport: ours.certificates,
      mtls: true,
    });
    using steady = startPeer(running.address, { transport: member.certificates });
    const stream = steady.peer.client(resolverV1.ResolverDefinition).watch({})[Symbol.asyncIterator]();
    await stream.next();

    let calls = 0;
    let loading = true;
    const failures: unknown[] = [];
    const load = [1, 2, 3, 4].map(async (lane) => {
      while (loading) {
        // Half of the lanes call on the open connection, half connect afresh for each call.
        using fresh = lane % 2 === 0 ? startPeer(running.address, { transport: member.certificates }) : undefined;
        const peer = (fresh ?? steady).peer;
        await peer
          .client(resolverV1.ResolverDefinition)
          .activity({}, { retry: false })
          .catch((error: unknown) => failures.push(error));
        calls += 1;
      }
    });

    const shown = [await serialShown(running.server.port, client)];
    for (let renewal = 0; renewal < 5; renewal++) {
      const renewed = authority.issue("server");
      const before = calls;
      await ours.certificates.reload();
      shown.push(await serialShown(running.server.port, client));
      expect(shown.at(-1)).toBe(renewed.serial);
      await eventually(() => calls > before + 8);
    }
    loading = false;
    await Promise.all(load);
    expect(failures).toEqual([]);
    expect(new Set(shown).size).toBe(6);
    let ended = false;
    const next = stream.next().then(({ done }) => (ended = done === true));
    await steady.peer.client(resolverV1.ResolverDefinition).activity({});
    expect(ended).toBe(false);
    await running.server.drain(new AbortController().signal);
    await next;
    expect(ended).toBe(true);
  });

  test("the files are read again by themselves", async () => {
    using authority = new Authority("ours");
    const first = authority.issue("server");
    const { log } = rememberedLog();
    const certificates = new CertificateFiles({
      files: first,
      interval: 20,
      clock: systemClock,
      log,
      metrics: new MetricRegistry().register(certificateMetrics),
    });
    await certificates.start();
    await using running = await startServer([any(resolver())], { transport: certificates });
    const renewed = authority.issue("server");
    await eventually(async () => (await serialShown(running.server.port, first)) === renewed.serial);
    certificates.stop();
  });

  test("half of a renewal is refused, said once, and what was in use goes on", async () => {
    using authority = new Authority("ours");
    const first = authority.issue("server");
    using ours = await certificatesOf(first);
    await using running = await startServer([any(resolver())], { transport: ours.certificates });
    const other = authority.issue("other");
    writeFileSync(first.key, readFileSync(other.key));
    await ours.certificates.reload();
    await ours.certificates.reload();
    expect(await serialShown(running.server.port, other)).toBe(first.serial);
    expect(ours.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(await ours.registry.text()).toContain('evenkeel_certificate_reads_total{outcome="refused"} 2');
    writeFileSync(first.cert, readFileSync(other.cert));
    await ours.certificates.reload();
    expect(await serialShown(running.server.port, other)).toBe(other.serial);
  });

  test("a client's own renewed certificate is used for its next connection", async () => {
    using authority = new Authority("old");
    using successor = new Authority("new");
    const files = authority.issue("client");
    using member = await certificatesOf(files);
    using ours = await certificatesOf(successor.issue("server"));
    await using running = await startServer([any(resolver())], { transport: ours.certificates, mtls: true });
    using peer = startPeer(running.address, { transport: member.certificates });
    const client = peer.peer.client(resolverV1.ResolverDefinition);
    await expect(client.activity({}, { retry: false })).rejects.toMatchObject({ code: "EK_RPC_PEER_AWAY" });
    const next = successor.issue("client");
    for (const part of ["cert", "key", "ca"] as const) writeFileSync(files[part], readFileSync(next[part]));
    await member.certificates.reload();
    await eventually(() => peer.peer.up);
    await expect(client.activity({})).resolves.toEqual({ services: [] });
  });

  test("files that cannot be used end the start with a code", async () => {
    using authority = new Authority("ours");
    const files = authority.issue("server");
    await expect(certificatesOf({ ...files, key: `${files.key}.gone` })).rejects.toMatchObject({
      code: "EK_RPC_BAD_CERTIFICATE",
    });
    await expect(certificatesOf({ ...files, key: authority.issue("other").key })).rejects.toMatchObject({
      code: "EK_RPC_BAD_CERTIFICATE",
    });
  });
});

test("a caller that connects and never shakes hands does not hold up the drain", async () => {
  using authority = new Authority("ours");
  using ours = await certificatesOf(authority.issue("server"));
  await using running = await startServer([any(resolver())], { transport: ours.certificates });
  const silent = connect(running.server.port, "127.0.0.1");
  await new Promise((resolve) => silent.once("connect", resolve));
  const closed = new Promise((resolve) => silent.once("close", resolve));
  await expect(running.server.drain(AbortSignal.timeout(20_000))).resolves.toBe(0);
  // The handshake has a timeout of its own.
  await closed;
});
