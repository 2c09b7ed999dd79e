import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { keyOf, withCell, withCluster } from "./list-items.ts";
import { ListStream } from "./list-stream.ts";

async function* chunks(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield Promise.resolve(bytes.subarray(at, at + size));
}

async function read(text: string, size: number) {
  const list = await new ListStream(chunks(text, size)).open();
  const items: unknown[] = [];
  for (let item = await list.next(); item !== undefined; item = await list.next())
    items.push(JSON.parse(item.toString()));
  return {
    items,
    fields: Object.fromEntries([...list.fields].map(([name, value]) => [name, JSON.parse(value) as unknown])),
  };
}

test("any list is read the same, however it is cut into chunks and in whatever order its fields come", async () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const list = fc.record({
    kind: fc.string(),
    items: fc.array(fc.dictionary(fc.string(), value)),
    metadata: value,
  });
  await fc.assert(
    fc.asyncProperty(
      list,
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      fc.constantFrom(undefined, 2),
      async (given, size, reverse, indent) => {
        const entries = Object.entries(given);
        const text = JSON.stringify(Object.fromEntries(reverse ? entries.toReversed() : entries), null, indent);
        const { items, ...fields } = JSON.parse(text) as { items: unknown[] };
        expect(await read(text, size)).toEqual({ items, fields });
      },
    ),
    { numRuns: 100 },
  );
});

test.each(['{"items":[{"a":1}', "[]", '{"items":[{}],"kind"'])("%s is an error", async (text) => {
  await expect(read(text, 5)).rejects.toThrow();
});

test("null instead of items is an empty list", async () => {
  expect(await read('{"kind":"PodList","items":null}', 100)).toMatchObject({
    items: [],
  });
});

test.each([
  ['{"metadata":{"name":"x"}}', { name: "x", annotations: { "evenkeel.io/cluster": "b" } }],
  ['{"metadata":{}}', { annotations: { "evenkeel.io/cluster": "b" } }],
  [
    '{"spec":{"metadata":{}},"metadata":{"annotations":{"k":"\\"}{"},"name":"x"}}',
    { name: "x", annotations: { k: '"}{', "evenkeel.io/cluster": "b" } },
  ],
  ['{"metadata":{"annotations":{ }}}', { annotations: { "evenkeel.io/cluster": "b" } }],
])("the cluster is annotated on %s", (item, metadata) => {
  expect(JSON.parse(withCluster(Buffer.from(item), "b", false).toString())).toMatchObject({ metadata });
});

test("a row gets a cell, and its key is its object's", () => {
  const row = Buffer.from('{"cells":["x",{"a":[1]}],"object":{"metadata":{"namespace":"shop","name":"x"}}}');
  expect(JSON.parse(withCell(row, "b").toString())).toMatchObject({
    cells: ["x", { a: [1] }, "b"],
  });
  expect(keyOf(row, true)).toBe("shop/x");
});

test.each(['{"items":[}', '{"items":[{},]]', '{"items":[:', "{:", "{]"])(
  "a list that is not JSON, %s, is refused and not read for ever",
  async (text) => {
    await expect(read(`${text}${" ".repeat(100)}`, 7)).rejects.toThrow();
    const list = new ListStream(chunks(text, 100));
    const all = async () => {
      await list.open();
      for (let count = 0; count < 10; count += 1) if ((await list.next()) === undefined) return;
    };
    await expect(all()).rejects.toThrow();
  },
);

test("a long item that comes in small chunks is not read again for each of them", async () => {
  const text = JSON.stringify({ items: [{ data: "x".repeat(16 * 2 ** 20) }] });
  const { items } = await read(text, 2 ** 10);
  expect(items).toHaveLength(1);
});
