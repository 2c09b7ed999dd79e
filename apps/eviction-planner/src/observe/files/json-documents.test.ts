import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { JsonFault, jsonDocuments } from "./json-documents.ts";

/** The text in chunks of `size` bytes. */
function chunksOf(text: string, size: number): AsyncIterable<Buffer> {
  const bytes = Buffer.from(text);
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
  return Readable.from(starts.map((start) => bytes.subarray(start, start + size)));
}

interface Read {
  readonly items: readonly unknown[];
  readonly rests: readonly unknown[];
  readonly bytes: readonly number[];
}

async function read(text: string, size = 7): Promise<Read> {
  const [items, rests, bytes]: [unknown[], unknown[], number[]] = [[], [], []];
  for await (const part of jsonDocuments(chunksOf(text, size))) {
    (part.kind === "item" ? items : rests).push(JSON.parse(part.text.toString()));
    bytes.push(part.byte);
  }
  return { items, rests, bytes };
}

const faultOf = (text: string): Promise<unknown> => read(text).catch((error: unknown) => error);

describe("a stream of JSON documents", () => {
  test("gives the items of a list and then the rest of the list", async () => {
    const text = `{"apiVersion":"v1","items":[{"a":{"items":[1]}}, {"b":"}]\\"\\\\"}],"kind":"List"}`;
    expect(await read(text)).toEqual({
      items: [{ a: { items: [1] } }, { b: '}]"\\' }],
      rests: [{ apiVersion: "v1", items: [], kind: "List" }],
      bytes: [text.indexOf('{"a"'), text.indexOf('{"b"'), 0],
    });
  });

  test("gives an object that is no list, and documents one after another", async () => {
    expect(await read(`{"kind":"Pod"}\n{"items":[]}{"kind":"Node"}`)).toMatchObject({
      items: [],
      rests: [{ kind: "Pod" }, { items: [] }, { kind: "Node" }],
    });
  });

  test("tells with each item what stands before the items", async () => {
    for await (const part of jsonDocuments(chunksOf(`{"kind":"PodList","items":[{}],"metadata":{}}`, 5))) {
      if (part.kind === "item") expect(JSON.parse(part.before().toString())).toEqual({ kind: "PodList", items: [] });
    }
  });

  test("accepts a byte order mark", async () => {
    expect(await read(`\ufeff{"kind":"Pod"}`)).toMatchObject({ rests: [{ kind: "Pod" }] });
  });

  test.each([
    ["is empty", "", 0],
    ["is YAML", "apiVersion: v1\n", 0],
    ["is a list of objects", "[{}]", 0],
    ["is a text", ' "a"', 1],
    ["has a text in items", '{"items":["a"]}', 10],
    ["has a number in items", '{"items":[{},7]}', 13],
    ["ends too early", '{"items":[{"a":1}', 17],
    ["closes what is not open", '{}\n{"a":1}}', 10],
  ])("names the byte where it %s", async (_name, text, byte) => {
    const fault = await faultOf(text);
    expect(fault).toBeInstanceOf(JsonFault);
    expect((fault as JsonFault).byte).toBe(byte);
  });

  test("gives what JSON.parse gives, wherever it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue())),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (items, size, isIndented) => {
          const list = { kind: "List", items, metadata: { note: '"items":[' } };
          const { items: found, rests } = await read(JSON.stringify(list, undefined, isIndented ? 2 : 0), size);
          // Through JSON, since -0 becomes 0.
          expect(found).toEqual(JSON.parse(JSON.stringify(items)));
          expect(rests).toEqual([{ ...list, items: [] }]);
        },
      ),
    );
  });
});
