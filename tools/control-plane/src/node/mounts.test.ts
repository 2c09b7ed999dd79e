import { expect, test } from "@jest/globals";
import { parseMounts } from "./mounts.ts";

test("a mount has a point, in which a blank is written as a number, and a kind", () => {
  const text = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
35 22 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
90 22 0:50 / /run/with\\040blank rw shared:7 master:2 - tmpfs tmpfs rw
`;
  expect(parseMounts(text)).toEqual([
    { point: "/", type: "ext4" },
    { point: "/sys/fs/cgroup/memory", type: "cgroup" },
    { point: "/run/with blank", type: "tmpfs" },
  ]);
});
