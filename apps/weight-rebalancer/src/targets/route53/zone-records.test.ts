import { expect, test } from "@jest/globals";
import { FakeClock } from "@evenkeel/runtime/testing";
import type { RecordPage } from "./zone-api.ts";
import { ZoneRecords } from "./zone-records.ts";

const id = { zone: "Z1", name: "www.example.com.", type: "A", identifier: "blue" };
const signal = new AbortController().signal;

const page = (Weight: number): RecordPage => ({
  records: [{ Name: "www.example.com.", Type: "A", SetIdentifier: "blue", Weight, TTL: 60 }],
  next: undefined,
});

test("a page that was asked for before a write was accepted does not undo it", async () => {
  const asked: ((answer: RecordPage) => void)[] = [];
  const list = () => new Promise<RecordPage>((resolve) => asked.push(resolve));
  const records = new ZoneRecords({
    api: { list, trouble: undefined },
    clock: new FakeClock(),
    random: () => 0.5,
    signal,
  });
  const reading = records.read(id.name, 0, signal);
  records.accept(id, 16);
  asked[0]?.(page(8));
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(2);
  asked[1]?.(page(16));
  expect(await reading).toMatchObject([{ Weight: 16 }]);
});
