import { PassThrough } from "node:stream";
import { FakeClock } from "@evenkeel/runtime/testing";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { liveText, type ServerSentEvent, serverSentEvents } from "./server-sent-events.ts";

async function* chunked(text: string, cuts: readonly number[]): AsyncGenerator<string> {
  await Promise.resolve();
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  for (const [index, place] of places.entries()) yield text.slice(place, places[index + 1] ?? text.length);
}

async function all(text: string, cuts: readonly number[] = []): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of serverSentEvents(chunked(text, cuts))) events.push(event);
  return events;
}

describe("server-sent events", () => {
  test("are read with their names; comments and unknown fields are left out", async () => {
    const text = ': open\n\ndata: {"a":1}\n\n: alive\n\nid: 7\nretry: 10\nevent: end\ndata: {}\n\n';
    expect(await all(text)).toEqual([
      { event: "message", data: '{"a":1}' },
      { event: "end", data: "{}" },
    ]);
  });

  test("join several lines of data, and take one space away", async () => {
    expect(await all("data: one\ndata:two\ndata:  three\n\n")).toEqual([
      { event: "message", data: "one\ntwo\n three" },
    ]);
  });

  test.each([["\n"], ["\r\n"], ["\r"]])("end their lines with %j", async (end) => {
    expect(await all(`event: x${end}data: y${end}${end}data: z${end}${end}.`)).toEqual([
      { event: "x", data: "y" },
      { event: "message", data: "z" },
    ]);
  });

  test("leave out the half that a cut connection leaves", async () => {
    expect(await all('data: {"a":1}\n\ndata: {"a":')).toEqual([{ event: "message", data: '{"a":1}' }]);
    expect(await all('data: {"a":1}\n\ndata: {"b":2}\n')).toEqual([{ event: "message", data: '{"a":1}' }]);
  });

  test("carry over no name from an event without data", async () => {
    expect(await all("event: x\n\ndata: y\n\n")).toEqual([{ event: "message", data: "y" }]);
  });

  test("are the same however the network cuts them", async () => {
    const piece = fc.constantFrom(": c", "data: x", "data", "data:", "event: end", "", "", "ü", "\uFEFF", "id: 1");
    const end = fc.constantFrom("\n", "\r\n");
    await fc.assert(
      fc.asyncProperty(fc.array(piece), end, fc.array(fc.nat()), async (pieces, lineEnd, cuts) => {
        const text = pieces.map((line) => line + lineEnd).join("");
        expect(await all(text, cuts)).toEqual(await all(text));
      }),
    );
  });
});

describe("a body that is watched", () => {
  test("fails once nothing came for too long, and not before", async () => {
    const clock = new FakeClock();
    const body = new PassThrough();
    const texts = liveText(body, { clock, silence: 45_000, place: "there" });
    body.write("a");
    expect((await texts.next()).value).toBe("a");
    const second = texts.next();
    await clock.advance(44_000);
    body.write("b");
    expect((await second).value).toBe("b");
    const third = texts.next();
    const failed = expect(third).rejects.toMatchObject({ code: "EK_CLI_STREAM_CUT" });
    await clock.advance(45_000);
    await failed;
    expect(body.destroyed).toBe(true);
  });

  test("says so when the connection breaks", async () => {
    const body = new PassThrough();
    const texts = liveText(body, { clock: new FakeClock(), silence: 45_000, place: "there" });
    body.destroy(new Error("ECONNRESET"));
    await expect(texts.next()).rejects.toMatchObject({
      code: "EK_CLI_STREAM_CUT",
      message: expect.stringMatching(/\bthere\b.*ECONNRESET/),
    });
  });

  test("is closed when the reader stops", async () => {
    const body = new PassThrough();
    body.write("a");
    const texts = liveText(body, { clock: new FakeClock(), silence: 45_000, place: "there" });
    expect((await texts.next()).value).toBe("a");
    await texts.return();
    expect(body.destroyed).toBe(true);
  });
});
