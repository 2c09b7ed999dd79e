import { expect, test } from "@jest/globals";
import { librariesOf, nodeLayer } from "./node-layer.ts";

test("libraries are found by the paths that the loader uses", () => {
  const ldd = `\tlinux-vdso.so.1 (0x00007ffd7b9f2000)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f3a)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f3b)
`;
  expect(librariesOf(ldd)).toEqual(["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"]);
});

test("the layer has Node, a C library and the unprivileged user", () => {
  const entries = new Map(nodeLayer().map(({ path, content }) => [path, content]));
  expect([...entries.keys()]).toEqual(
    expect.arrayContaining(["nodejs/bin/node", expect.stringMatching(/libc\.so/), "etc/passwd", "tmp"]),
  );
  expect(entries.get("etc/passwd")).toContain("nonroot:x:65532:65532:");
});
