import { X509Certificate } from "node:crypto";
import { afterAll, describe, expect, test } from "@jest/globals";
import { silentLog } from "@evenkeel/runtime/testing";
import { type ConfigMap, Store } from "@evenkeel/kube";
import { TestAuthority } from "../testing/test-authority.ts";
import { Authorities } from "./authorities.ts";
import { CLIENT_CA, followClientCa } from "./authority-sources.ts";

const [old, next] = [new TestAuthority("old"), new TestAuthority("next")];
afterAll(() => [old, next].forEach((authority) => authority[Symbol.dispose]()));
const log = silentLog();

describe("a certificate on a connection that is older than the present authorities", () => {
  const after = (use?: "serverAuth" | "clientAuth") => {
    const { cert } = old.issue({ name: "kubelet", ...(use && { use }) });
    const authorities = new Authorities();
    authorities.replace(`${old.cert}\n${next.cert}`);
    const client = { certificate: new X509Certificate(cert), verified: false, authorities: old.cert };
    return authorities.faultOf({ ...client, fault: "INVALID_PURPOSE" }, Date.now());
  };

  test("is accepted if its authority is still one", () => {
    expect(after()).toBeUndefined();
    expect(after("clientAuth")).toBeUndefined();
  });

  test("is not if it is for servers alone, as in a handshake", () => {
    expect(after("serverAuth")).toBe("INVALID_PURPOSE");
  });

  test("is not before it is valid", () => {
    const { cert } = old.issue({ name: "bob" });
    const authorities = new Authorities();
    authorities.replace(old.cert);
    const client = { certificate: new X509Certificate(cert), verified: true, fault: undefined, authorities: "" };
    const day = 86_400_000;
    expect(authorities.faultOf(client, Date.now() - day)).toBe("CERT_NOT_YET_VALID");
    expect(authorities.faultOf(client, Date.now() + 3 * day)).toBe("CERT_HAS_EXPIRED");
  });
});

test.each([undefined, "", "no certificate"])("a published authority of %j leaves the last one in use", (text) => {
  const store = new Store<ConfigMap>({ log });
  const authorities = new Authorities();
  followClientCa(store, log, (pem) => void authorities.replace(pem));
  const publish = (data: Record<string, string>) =>
    store.put({ apiVersion: "v1", kind: "ConfigMap", metadata: { ...CLIENT_CA }, data });
  publish({ "client-ca-file": old.cert });
  publish(text === undefined ? {} : { "client-ca-file": text });
  expect(authorities.pem).toBe(old.cert);
});
