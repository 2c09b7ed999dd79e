import { expect, test } from "@jest/globals";
import { NoCredential, TooManyRequests } from "./errors.ts";
import { statusRefusal } from "./status.ts";

test("a refusal is a Status with its code in the sentence and as the cause", () => {
  const { status, code, headers = [], body = "" } = statusRefusal(401, new NoCredential({}));
  expect([status, code]).toEqual([401, "EK_PROXY_NO_CREDENTIAL"]);
  expect(headers).toEqual(expect.arrayContaining(["content-type", "application/json", "www-authenticate"]));
  expect(JSON.parse(body)).toMatchObject({
    ...{ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Unauthorized", code: 401 },
    message: expect.stringMatching(/\(EK_PROXY_NO_CREDENTIAL\)$/) as unknown,
    details: { causes: [{ reason: "EK_PROXY_NO_CREDENTIAL" }] },
  });
});

test("a refusal for a moment says when to retry, in the header and in the Status", () => {
  const refused = statusRefusal(429, new TooManyRequests({ what: "reads", seconds: 1 }), { retryAfterSeconds: 1 });
  expect(refused.headers).toEqual(expect.arrayContaining(["retry-after", "1"]));
  expect(JSON.parse(refused.body ?? "")).toMatchObject({ details: { retryAfterSeconds: 1 } });
});
