import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { fullNames, readNameServers } from "./name-servers.ts";

test("reads servers, search domains and ndots of a pod's resolv.conf", async () => {
  const folder = await mkdtemp(join(tmpdir(), "resolv-"));
  const path = join(folder, "resolv.conf");
  await writeFile(
    path,
    "# made by kubelet\nsearch shop.svc.cluster.local svc.cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n",
  );
  expect(await readNameServers(path)).toEqual({
    servers: ["10.96.0.10"],
    search: ["shop.svc.cluster.local", "svc.cluster.local"],
    ndots: 5,
  });
  await rm(folder, { recursive: true });
});

test.each([
  ["web.", ["web"]],
  ["web", ["web.a.b", "web.c", "web"]],
  ["web.shop", ["web.shop.a.b", "web.shop.c", "web.shop"]],
  ["web.shop.svc", ["web.shop.svc", "web.shop.svc.a.b", "web.shop.svc.c"]],
])("asks for %s as %j", (name, full) => {
  expect(fullNames(name, { servers: [], search: ["a.b", "c."], ndots: 2 })).toEqual(full);
});
