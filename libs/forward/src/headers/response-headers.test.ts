import { expect, test } from "@jest/globals";
import { answerHeaderList, answerHeaders, trailerList } from "./response-headers.ts";

test("drops what is of one connection from an answer, given as a list or as an object", () => {
  const list = [
    "Connection",
    "X-Gone",
    "X-Gone",
    "1",
    "Transfer-Encoding",
    "chunked",
    "Keep-Alive",
    "5",
    "Set-Cookie",
    "a",
    "Set-Cookie",
    "b",
  ];
  expect(answerHeaderList(list)).toEqual(["set-cookie", "a", "set-cookie", "b"]);
  expect(
    answerHeaders({ connection: "X-Gone", "x-gone": "1", "transfer-encoding": "chunked", "set-cookie": ["a", "b"] }),
  ).toEqual(["set-cookie", "a", "set-cookie", "b"]);
});

test("lets no trailer change the framing, route or origin of a message", () => {
  expect(
    trailerList([
      "X-Sum",
      "1",
      "Content-Length",
      "5",
      "Transfer-Encoding",
      "chunked",
      "Host",
      "b",
      "Authorization",
      "x",
    ]),
  ).toEqual(["x-sum", "1"]);
});
