import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { systemClock } from "@evenkeel/runtime";
import { eventually, FakeClock } from "@evenkeel/runtime/testing";
import { CollectedGroups } from "../../../test/collected-groups.ts";
import { blocksOf } from "../../../test/discovery-world.ts";
import { type DnsAnswer, DnsServer } from "../../../test/dns-server.ts";
import type { DnsBlock } from "./discovery-block.ts";
import { dnsDiscovery } from "./dns-discovery.ts";

let server: DnsServer;
beforeEach(async () => {
  server = await DnsServer.start();
});
afterEach(() => server[Symbol.asyncDispose]());

function discover(
  config: object,
  { search = [] as readonly string[], clock = systemClock, servers = [server.address] } = {},
) {
  const sink = new CollectedGroups();
  const [block] = blocksOf({ dns_sd_configs: [config] });
  const nameServers = () => Promise.resolve({ servers, search, ndots: 1 });
  const discovery = dnsDiscovery(block as DnsBlock, sink, { clock, nameServers });
  return { sink, [Symbol.dispose]: () => discovery.stop() };
}

describe("dns_sd", () => {
  test.each<[type: string, answer: DnsAnswer, address: string, labels: object]>([
    ["A", [{ type: "A", address: "192.0.2.2" }], "192.0.2.2:80", {}],
    ["AAAA", [{ type: "AAAA", address: "2001:0db8:0000:0000:0000:0000:0000:0001" }], "[2001:db8::1]:80", {}],
    [
      "srv",
      [{ type: "SRV", target: "db1.example.com", port: 3306 }],
      "db1.example.com:3306",
      { __meta_dns_srv_record_target: "db1.example.com.", __meta_dns_srv_record_port: "3306" },
    ],
    [
      "MX",
      [{ type: "MX", target: "smtp.example.com" }],
      "smtp.example.com:80",
      { __meta_dns_mx_record_target: "smtp.example.com." },
    ],
    [
      "NS",
      [{ type: "NS", target: "ns.example.com" }],
      "ns.example.com:80",
      { __meta_dns_ns_record_target: "ns.example.com." },
    ],
  ])("makes targets of %s records", async (type, answer, address, labels) => {
    server.answers.set("web.example.com", answer);
    using discovered = discover({ names: ["web.example.com"], type, port: 80 });
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
    const group = discovered.sink.groups.get("web.example.com");
    expect(group?.targets.map((each) => Object.fromEntries(each))).toEqual([
      { __address__: address, __meta_dns_name: "web.example.com", ...labels },
    ]);
  });

  test("takes NXDOMAIN and a name without such records for no targets", async () => {
    server.answers.set("mail.example.com", [{ type: "MX", target: "a.example.com" }]);
    using discovered = discover({ names: ["gone.example.com", "mail.example.com"], type: "A", port: 80 });
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: true }));
    expect(discovered.sink.last?.fault).toBeUndefined();
    expect(discovered.sink.addresses).toEqual([]);
  });

  test("keeps the targets of a name on SERVFAIL, gives up those of NXDOMAIN, and follows the others", async () => {
    for (const [index, name] of ["a", "b", "c"].entries())
      server.answers.set(`${name}.example.com`, [{ type: "A", address: `192.0.2.${index + 1}` }]);
    const clock = new FakeClock();
    const names = ["a.example.com", "b.example.com", "c.example.com"];
    using discovered = discover({ names, type: "A", port: 80 }, { clock });
    const { sink } = discovered;
    await eventually(() => expect(sink.addresses).toEqual(["192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"]));
    const goodAt = clock.now();
    server.answers.set("a.example.com", "SERVFAIL");
    server.answers.delete("b.example.com");
    server.answers.set("c.example.com", [{ type: "A", address: "192.0.2.4" }]);
    await clock.advance(30_000);
    await eventually(() => expect(sink.addresses).toEqual(["192.0.2.1:80", "192.0.2.4:80"]));
    expect(sink.last).toMatchObject({ answered: true, goodAt });
    expect(sink.last?.fault).toContain("a.example.com");
    server.answers.set("a.example.com", [{ type: "A", address: "192.0.2.5" }]);
    await clock.advance(30_000);
    await eventually(() => expect(sink.addresses).toEqual(["192.0.2.4:80", "192.0.2.5:80"]));
    expect(sink.last).toEqual({ answered: true, goodAt: clock.now() });
  });

  test("has not answered while no server gives an answer", async () => {
    server.answers.set("a.example.com", "SERVFAIL");
    using discovered = discover({ names: ["a.example.com"], type: "A", port: 80 });
    await eventually(() => expect(discovered.sink.last).toMatchObject({ answered: false }));
    expect(discovered.sink.last?.fault).toContain("a.example.com");
  });

  test("looks below the search domains, and a failure below one of them leaves a name unknown", async () => {
    const search = ["one.example.com", "two.example.com"];
    server.answers.set("web.two.example.com", [{ type: "A", address: "192.0.2.9" }]);
    server.answers.set("db.one.example.com", "SERVFAIL");
    using found = discover({ names: ["web"], type: "A", port: 80 }, { search });
    await eventually(() => expect(found.sink.addresses).toEqual(["192.0.2.9:80"]));
    expect(server.asked).toEqual(["web.one.example.com", "web.two.example.com"]);
    using unknown = discover({ names: ["db"], type: "A", port: 80 }, { search });
    await eventually(() => expect(unknown.sink.last).toMatchObject({ answered: false }));
  });

  test("asks the next server if one is silent", async () => {
    await using other = await DnsServer.start();
    server.answers.set("web.example.com", "silence");
    other.answers.set("web.example.com", [{ type: "A", address: "192.0.2.7" }]);
    using discovered = discover(
      { names: ["web.example.com"], type: "A", port: 80 },
      { servers: [server.address, other.address] },
    );
    await eventually(() => expect(discovered.sink.addresses).toEqual(["192.0.2.7:80"]));
  });
});
