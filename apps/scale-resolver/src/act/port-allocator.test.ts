import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { PortAllocator } from "./port-allocator.ts";

const RANGE = { first: 20_000, last: 20_003 };

function elasti(name: string, status?: StoredElastiService["status"]): StoredElastiService {
  const metadata = { namespace: "default", name, creationTimestamp: "2026-11-16T12:00:00Z" };
  return { apiVersion: "v1", kind: "ElastiService", metadata, ...(status && { status }) };
}

const service = { metadata: { name: "shop" }, spec: { ports: [{ name: "http", port: 80 }] } };

test("an object keeps the port that is on record, and two never get the same", () => {
  const known = elasti("a", { ports: [{ name: "http", port: 20_002 }] });
  const book = new PortAllocator({ values: () => [known].values() }, RANGE, new FakeClock());
  expect(book.allocate(known, service)).toEqual([{ name: "http", port: 20_002 }]);
  expect(book.allocate(elasti("b"), service)).toEqual([{ name: "http", port: 20_000 }]);
  expect(book.allocate(elasti("c"), service)).toEqual([{ name: "http", port: 20_001 }]);
  expect(book.allocate(elasti("b"), service)).toEqual([{ name: "http", port: 20_000 }]);
});

test("a released port is not assigned for a minute, not even to the same object", async () => {
  const clock = new FakeClock();
  const book = new PortAllocator({ values: () => [].values() }, RANGE, clock);
  expect(book.allocate(elasti("a"), service)).toEqual([{ name: "http", port: 20_000 }]);
  book.forget("default/a");
  expect(book.allocate(elasti("a"), service)).toEqual([{ name: "http", port: 20_001 }]);
  expect(book.allocate(elasti("b"), service)).toEqual([{ name: "http", port: 20_002 }]);
  await clock.advance(60_000);
  expect(book.allocate(elasti("c"), service)).toEqual([{ name: "http", port: 20_000 }]);
});

test("a new term begins with the ports on record, because another leader may have assigned them meanwhile", () => {
  const clock = new FakeClock();
  const records: StoredElastiService[] = [];
  const book = new PortAllocator({ values: () => records.values() }, RANGE, clock);
  expect(book.allocate(elasti("a"), service)).toEqual([{ name: "http", port: 20_000 }]);
  expect(book.allocate(elasti("b"), service)).toEqual([{ name: "http", port: 20_001 }]);
  expect(book.allocate(elasti("c"), service)).toEqual([{ name: "http", port: 20_002 }]);
  book.forget("default/c");
  book.endTerm();
  // The other leader saw both deleted and created again.
  records.push(elasti("b", { ports: [{ name: "http", port: 20_000 }] }));
  records.push(elasti("a", { ports: [{ name: "http", port: 20_001 }] }));
  expect(book.allocate(elasti("a"), service)).toEqual([{ name: "http", port: 20_001 }]);
  expect(book.allocate(elasti("b"), service)).toEqual([{ name: "http", port: 20_000 }]);
  // A released port rests in the next term, too.
  expect(book.allocate(elasti("d"), service)).toEqual([{ name: "http", port: 20_003 }]);
});
