import { describe, expect, test } from "@jest/globals";
import { EventReader } from "./event-reader.ts";

const event = (data: string, name = "message") => ({ kind: "event", name, data });
const stream = ': open\n\ndata: {"a":1}\n\nevent: end\ndata: {}\n\n';

describe("an event stream", () => {
  test("is read event by event, comments being signs of life", () => {
    expect(new EventReader().read(stream)).toEqual([{ kind: "alive" }, event('{"a":1}'), event("{}", "end")]);
  });

  test("reads the same however it is cut", () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const reader = new EventReader();
      const items = [...reader.read(stream.slice(0, cut)), ...reader.read(stream.slice(cut))];
      expect(items).toEqual(new EventReader().read(stream));
    }
  });

  test("joins lines of data, takes other line ends, and drops what has no data", () => {
    expect(new EventReader().read("data:a\r\ndata: b\r\n\r\nevent: x\n\nid: 3\n\n")).toEqual([event("a\nb")]);
  });
});
