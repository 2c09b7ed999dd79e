import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { loopbackAddresses } from "./index.ts";

const index = join(import.meta.dirname, "index.ts");

describe("loopback addresses", () => {
  test("of two owners are never the same, also in another process", async () => {
    const owners = await Promise.all(Array.from({ length: 20 }, () => loopbackAddresses()));
    const program = `
      const { loopbackAddresses } = await import(${JSON.stringify(index)});
      const blocks = await Promise.all(Array.from({ length: 20 }, () => loopbackAddresses()));
      console.log(JSON.stringify(blocks.map(({ range, ports }) => [range, ports])));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
    const others = JSON.parse(stdout) as string[][];
    const all = [...owners.map(({ range, ports }) => [range, ports]), ...others];
    expect(all).toHaveLength(40);
    expect(new Set(all.map(([range]) => range)).size).toBe(40);
    expect(new Set(all.map(([, ports]) => ports)).size).toBe(40);
    expect(all.filter(([, ports]) => Number(ports?.split("-")[1]) >= 20_000)).toEqual([]);
    await Promise.all(owners.map((owner) => owner[Symbol.asyncDispose]()));
  });

  test("are one a name, none twice, outside the range of pods, and can be listened at", async () => {
    await using addresses = await loopbackAddresses();
    expect(addresses.of("web")).toBe(addresses.of("web"));
    const many = [addresses.of("web"), ...Array.from({ length: 1000 }, () => addresses.next()), addresses.of("shop")];
    expect(new Set(many).size).toBe(1002);
    expect(many.filter((address) => Number(address.split(".")[2]) < 128)).toEqual([]);
    const server = createServer((_, response) => response.end("here")).listen(8080, addresses.of("shop"));
    await once(server, "listening");
    expect(await (await fetch(`http://${addresses.of("shop")}:8080/`)).text()).toBe("here");
    server.close();
    await once(server, "close");
  });
});
