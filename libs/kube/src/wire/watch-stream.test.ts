import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { lines } from "./watch-stream.ts";

async function read(chunks: readonly Uint8Array[], limit?: number): Promise<string[]> {
  const stream = (async function* () {
    yield* chunks;
    await Promise.resolve();
  })();
  const found: string[] = [];
  for await (const line of lines("watch", stream, limit)) found.push(line);
  return found;
}

/** Splits bytes at the given positions. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

describe("lines", () => {
  test("are the same wherever the chunks are split, also within a character", async () => {
    const text = fc
      .string({ unit: "binary", minLength: 1 })
      .filter((line) => !/[\n\r]/.test(line) && line.trim() !== "");
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(500)), async (expected, places) => {
        const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(""));
        expect(await read(cut(bytes, places))).toEqual(expected.map((line) => Buffer.from(line).toString()));
      }),
    );
  });

  test("that are not UTF-8 fail", async () => {
    await expect(read([Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a])])).rejects.toMatchObject({
      code: "EK_KUBE_BAD_WATCH_EVENT",
    });
  });

  test("that are too long fail before they are complete", async () => {
    const endless = Array.from({ length: 5 }, () => Buffer.alloc(100, "x"));
    await expect(read(endless, 450)).rejects.toMatchObject({ code: "EK_KUBE_BAD_WATCH_EVENT" });
    await expect(read([...endless, Buffer.from("\n")], 500)).resolves.toHaveLength(1);
  });

  test("that are empty are skipped, and the last one must be complete", async () => {
    expect(await read([Buffer.from("\n\r\na\n\n")])).toEqual(["a"]);
    await expect(read([Buffer.from("a\nb")])).rejects.toMatchObject({ code: "EK_KUBE_CONNECTION_LOST" });
  });
});
