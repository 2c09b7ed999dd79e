import { DATA, END_STREAM, type Field, frame, headersFrame, PREFACE, SETTINGS } from "../parts/http2-frames.ts";
import type { Random } from "./random.ts";
import { hiddenRequest, type Input } from "./requests.ts";

/** Fields that would end a line, a head or a body early if they were written into HTTP/1.1 as they are. */
const FIELDS: readonly Field[] = [
  ["accept", "*/*"],
  ["x-plain", "value"],
  ["x-crlf", "a\r\nx-injected: yes"],
  ["x-lf", "a\nx-injected: yes"],
  ["x-cr", "a\rb"],
  ["x-nul", "a\0b"],
  ["x-name\r\nx-injected", "yes"],
  ["x-name: yes\r\nx-injected", "yes"],
  ["x name", "yes"],
  ["X-Upper", "yes"],
  ["", "no name"],
  [":unknown", "pseudo"],
  ["transfer-encoding", "chunked"],
  ["connection", "close"],
  ["connection", "transfer-encoding"],
  ["upgrade", "websocket"],
  ["te", "trailers"],
  ["te", "gzip"],
  ["host", "other.test"],
  ["content-length", "0"],
  ["content-length", "5"],
  ["content-length", "7, 7"],
  ["content-length", "+7"],
  ["cookie", "a=b"],
  ["cookie", "c=d"],
];

/** A few streams of HTTP/2 with fields and lengths that HTTP/1.1 could take another way. */
export function http2Input(random: Random): Input {
  const frames = [PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))];
  const count = 1 + random.below(3);
  for (let index = 0; index < count; index++) {
    const stream = 1 + 2 * index;
    const hidden = hiddenRequest(random);
    const body = Buffer.from(random.pick(["", hidden, `0\r\n\r\n${hidden}`]));
    const fields: Field[] = [
      [
        ":method",
        random.chance(0.8) ? "POST" : random.pick(["GET", "CONNECT", `GET / HTTP/1.1\r\nX: y\r\n\r\n`, "po st"]),
      ],
      [":scheme", "http"],
      [":authority", random.chance(0.8) ? "a.test" : random.pick(["a.test\r\nx: y", "", "a.test/", "u@a.test"])],
      [
        ":path",
        random.chance(0.7)
          ? `/h2/${random.below(1e6)}`
          : random.pick(["/a b", "/a HTTP/1.1\r\nX: y", "*", "", "http://other.test/", "/#x", "/\0"]),
      ],
    ];
    for (let more = random.below(4); more > 0; more--) fields.push(random.pick(FIELDS));
    frames.push(headersFrame(stream, body.length === 0 ? END_STREAM : 0, fields));
    if (body.length > 0) frames.push(frame(DATA, END_STREAM, stream, body));
  }
  return { kind: "http2", bytes: Buffer.concat(frames), meant: undefined };
}
