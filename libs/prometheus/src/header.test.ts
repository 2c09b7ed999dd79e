import { describe, expect, test } from "@jest/globals";
import { headerFault } from "./header.ts";

describe("a header of a user", () => {
  test.each([
    ["X-Scope-OrgID", "tenant-a"],
    ["authorization", "Bearer a.b-c_d"],
    ["x-empty", ""],
    ["x-latin", "Grüße\tall"],
  ])("%s: %s can be sent", (name, value) => {
    expect(headerFault(name, value)).toBeUndefined();
  });

  test.each([
    ["", "a", `"" is no header's name`],
    ["X Tenant", "a", `"X Tenant" is no header's name`],
    ["X-A\r\nX-B", "a", `"X-A\\r\\nX-B" is no header's name`],
    ["Content-Length", "1", "Content-Length cannot be set"],
    ["transfer-encoding", "chunked", "transfer-encoding cannot be set"],
    ["X-A", "hidden\nX-B: c", "X-A: the value has characters that no header may have, such as a line break"],
    ["X-A", "hidden€", "X-A: the value has characters that no header may have, such as a line break"],
    ["X-A", "hidden\0", "X-A: the value has characters that no header may have, such as a line break"],
  ])("%j: %j cannot, and its value is not repeated", (name, value, fault) => {
    expect(headerFault(name, value)).toBe(fault);
  });
});
