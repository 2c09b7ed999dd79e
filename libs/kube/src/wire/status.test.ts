import { describe, expect, test } from "@jest/globals";
import { oneLine, refusal } from "./status.ts";

function status(code: number, reason: string, causes: readonly object[] = []): string {
  return JSON.stringify({ kind: "Status", code, reason, message: "why", details: { causes, retryAfterSeconds: 3 } });
}

describe("a refusal", () => {
  test.each([
    [400, status(400, "BadRequest"), "EK_KUBE_BAD_REQUEST"],
    [401, status(401, "Unauthorized"), "EK_KUBE_UNAUTHORIZED"],
    [403, status(403, "Forbidden"), "EK_KUBE_FORBIDDEN"],
    [404, status(404, "NotFound"), "EK_KUBE_NOT_FOUND"],
    [405, status(405, "MethodNotAllowed"), "EK_KUBE_METHOD_NOT_ALLOWED"],
    [409, status(409, "AlreadyExists"), "EK_KUBE_ALREADY_EXISTS"],
    [409, status(409, "Conflict"), "EK_KUBE_CONFLICT"],
    [409, status(409, "Conflict", [{ reason: "FieldManagerConflict", field: ".data.a" }]), "EK_KUBE_FIELD_CONFLICT"],
    [410, status(410, "Expired"), "EK_KUBE_GONE"],
    [410, status(410, "Gone"), "EK_KUBE_GONE"],
    [413, status(413, "RequestEntityTooLarge"), "EK_KUBE_REQUEST_TOO_LARGE"],
    [415, status(415, "UnsupportedMediaType"), "EK_KUBE_UNSUPPORTED_MEDIA_TYPE"],
    [422, status(422, "Invalid"), "EK_KUBE_INVALID"],
    [429, "Too many requests, please try again later.", "EK_KUBE_TOO_MANY_REQUESTS"],
    [429, status(429, "TooManyRequests", [{ reason: "DisruptionBudget" }]), "EK_KUBE_EVICTION_BLOCKED"],
    [500, status(500, "InternalError"), "EK_KUBE_SERVER_FAULT"],
    [500, status(500, "ServerTimeout"), "EK_KUBE_SERVER_TIMEOUT"],
    [502, "<html>bad gateway</html>", "EK_KUBE_SERVER_UNAVAILABLE"],
    [503, "", "EK_KUBE_SERVER_UNAVAILABLE"],
    [504, status(504, "Timeout"), "EK_KUBE_SERVER_TIMEOUT"],
    [504, status(504, "Timeout", [{ reason: "ResourceVersionTooLarge" }]), "EK_KUBE_RESOURCE_VERSION_TOO_LARGE"],
    [302, "", "EK_KUBE_REFUSED"],
    [418, '{"kind":"Teapot"}', "EK_KUBE_REFUSED"],
  ])("of %d %s is %s", (code, body, expected) => {
    const error = refusal("get pods n/a at http://s", { status: code, body });
    expect(error.code).toBe(expected);
    expect(error.message).toMatch(/^get pods n\/a at http:\/\/s: .+$/);
    expect(error.status).toBe(code);
  });

  test("has reason, causes and retryAfter; the header wins over the body", () => {
    const causes = [{ reason: "FieldValueInvalid", message: "must be\n positive", field: "spec.replicas" }];
    const body = status(422, "Invalid", causes);
    const expected = {
      reason: "Invalid",
      causes: [{ reason: "FieldValueInvalid", message: "must be positive", field: "spec.replicas" }],
    };
    expect(refusal("c", { status: 422, body })).toMatchObject({ ...expected, retryAfter: 3000 });
    expect(refusal("c", { status: 422, body, retryAfter: "7" })).toMatchObject({ ...expected, retryAfter: 7000 });
    expect(refusal("c", { status: 422, body, retryAfter: "soon" })).toMatchObject({ retryAfter: 3000 });
  });

  test("has the whole response of a service behind the proxy, and none for the API server's own", () => {
    const body = '{"code":"EK_RPC_NOT_FOUND","message":"there is no such decision"}';
    expect(refusal("c", { status: 404, body })).toMatchObject({ code: "EK_KUBE_NOT_FOUND", reason: "", text: body });
    expect(refusal("c", { status: 404, body: status(404, "NotFound") }).text).toBeUndefined();
  });

  test("accepts a Status with parts of the wrong type", () => {
    const body = JSON.stringify({ kind: "Status", reason: 5, message: [], details: { causes: [1, null, {}] } });
    expect(refusal("c", { status: 500, body })).toMatchObject({
      code: "EK_KUBE_SERVER_FAULT",
      causes: [{ reason: "", message: "" }],
    });
  });
});

describe("foreign text", () => {
  test("is one line, bounded, without escapes and tokens", () => {
    expect(oneLine("a\n\u001b[31mb\u0000  c")).toBe("a [31mb c");
    expect(oneLine("x".repeat(5000))).toHaveLength(2001);
    expect(oneLine("got Bearer abc.def-ghi and eyJhbGciOiJ9.eyJzdWIiOiJ4.c2ln")).toBe(
      "got Bearer [masked] and [masked]",
    );
  });
});
