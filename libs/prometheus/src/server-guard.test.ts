import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { allowFaults, ServerGuard, ServerGuards } from "./server-guard.ts";

const isAllowed = (allow: readonly string[], address: string, isResolved = true, tenant?: string) => {
  try {
    new ServerGuards(allow).of(tenant)?.check(new URL(address), isResolved);
    return true;
  } catch {
    return false;
  }
};

describe("a server guard", () => {
  test.each([
    ["an empty list allows any address", [], "http://10.1.2.3:9090", true],
    ["link-local is denied, whatever the list has", ["169.254.0.0/16"], "http://169.254.169.254", false],
    ["link-local is denied without a list", [], "http://169.254.169.254/latest", false],
    ["link-local is denied in another notation", [], "http://0xa9fea9fe", false],
    ["link-local is denied in IPv6", [], "http://[fe80::1]:9090", false],
    ["link-local is denied as an IPv4 address in IPv6", [], "http://[::ffff:169.254.169.254]", false],
    ["a CIDR allows what is in it", ["10.0.0.0/8"], "http://10.1.2.3:9090", true],
    ["a CIDR denies what is not in it", ["10.0.0.0/8"], "http://192.0.2.1:9090", false],
    ["an address allows itself", ["192.0.2.1"], "http://192.0.2.1:9090", true],
    ["a name does not allow an address", ["prometheus.example.com"], "http://192.0.2.1", false],
  ])("%s", (_name, allow, address, expected) => {
    expect(isAllowed(allow, address)).toBe(expected);
  });

  test.each([
    ["prometheus.monitoring.svc", "http://prometheus.monitoring.svc:9090", true],
    ["*.monitoring.svc", "http://prometheus.monitoring.svc:9090", true],
    ["*.monitoring.svc", "http://prometheus.evil-monitoring.svc:9090", false],
    ["*.monitoring.svc", "http://monitoring.svc.example.com:9090", false],
    ["10.0.0.0/8", "http://prometheus.monitoring.svc:9090", false],
  ])("%s decides on %s behind a proxy, which resolves the name", (allow, address, expected) => {
    expect(isAllowed([allow], address, false)).toBe(expected);
  });

  test.each([
    ["shop", "shop/prometheus.shop.svc", "http://prometheus.shop.svc:9090", true],
    ["other", "shop/prometheus.shop.svc", "http://prometheus.shop.svc:9090", false],
    [undefined, "shop/prometheus.shop.svc", "http://prometheus.shop.svc:9090", false],
    ["shop", "shop/10.0.0.0/8", "http://10.1.2.3:9090", true],
    ["other", "shop/10.0.0.0/8", "http://10.1.2.3:9090", false],
    ["shop", "prometheus.monitoring.svc", "http://prometheus.monitoring.svc:9090", true],
  ])("the tenant %s with %s and %s", (tenant, allow, address, expected) => {
    expect(isAllowed([allow, "shop/192.0.2.1"], address, false, tenant)).toBe(expected);
  });

  test("looks at what a name resolves to", async () => {
    const lookup = (allow: readonly string[]) =>
      promisify(new ServerGuard(allow).lookup)("localhost", { all: true }).then(
        () => "allowed",
        (error: unknown) => (error as { code?: string }).code,
      );
    expect(await lookup(["127.0.0.0/8", "::1"])).toBe("allowed");
    expect(await lookup(["localhost"])).toBe("allowed");
    expect(await lookup(["10.0.0.0/8"])).toBe("EK_PROMETHEUS_SERVER_DENIED");
    const unknown = promisify(new ServerGuard("all").lookup)("no-such-host.invalid", { all: true });
    await expect(unknown).rejects.toMatchObject({ code: expect.stringMatching(/^(ENOTFOUND|EAI_)/) });
  });

  test("names entries that mean nothing", () => {
    const good = [
      "prometheus",
      "*.example.com",
      "10.0.0.0/8",
      "2001:db8::/32",
      "192.0.2.1",
      "shop/prometheus",
      "shop/10.0.0.0/8",
    ];
    expect(allowFaults([...good, "10.0.0.0/33", "http://prometheus", "10.0.0.0/", "10/8", "shop/"])).toHaveLength(5);
    expect(allowFaults(good)).toEqual([]);
  });
});
