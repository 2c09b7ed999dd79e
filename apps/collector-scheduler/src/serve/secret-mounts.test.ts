import { expect, test } from "@jest/globals";
import { MOUNT_TIME, SecretMounts } from "./secret-mounts.ts";

const job = (version: number, ...files: readonly string[]) => ({
  ...{ key: "prometheus/app", served: { version } },
  secretFiles: new Map(files.map((file) => [file, "x"])),
});

test("a job that gets a password is served as before until pods have the file", () => {
  const mounts = new SecretMounts();
  mounts.update([job(1)], 0);
  expect(mounts.servedNow(job(1), 0)).toEqual({ version: 1 });
  mounts.update([job(2, "password")], 1000);
  expect(mounts.servedNow(job(2, "password"), 1000)).toEqual({ version: 1 });
  mounts.update([job(3, "password")], 2000);
  expect(mounts.servedNow(job(3, "password"), 2000)).toEqual({ version: 1 });
  expect(mounts.isPending(1000 + MOUNT_TIME - 1)).toBe(true);
  expect(mounts.servedNow(job(3, "password"), 1000 + MOUNT_TIME)).toEqual({ version: 3 });
  expect(mounts.isPending(1000 + MOUNT_TIME)).toBe(false);
});

test("a new job with a password is not served until pods have the file", () => {
  const mounts = new SecretMounts();
  mounts.update([], 0);
  mounts.update([job(1, "password")], 1000);
  expect(mounts.servedNow(job(1, "password"), 1000)).toBeUndefined();
  mounts.update([job(2, "password")], 2000);
  expect(mounts.servedNow(job(2, "password"), 3000)).toBeUndefined();
  expect(mounts.servedNow(job(2, "password"), 1000 + MOUNT_TIME)).toEqual({ version: 2 });
});

test("files that are there at the start, and a changed value of a file that is there, are not waited for", () => {
  const mounts = new SecretMounts();
  mounts.update([job(1, "password")], 0);
  expect(mounts.servedNow(job(1, "password"), 0)).toEqual({ version: 1 });
  mounts.update([job(2, "password")], 10);
  expect(mounts.servedNow(job(2, "password"), 10)).toEqual({ version: 2 });
});

test("pods that are still to restart for a new mount are waited for, however long it takes, and once", () => {
  let isRollingOut = true;
  const mounts = new SecretMounts(() => isRollingOut);
  mounts.update([job(1)], 0);
  mounts.update([job(2, "password")], 1000);
  const late = 1000 + 10 * MOUNT_TIME;
  expect(mounts.servedNow(job(2, "password"), late)).toEqual({ version: 1 });
  mounts.update([job(3, "password")], late);
  expect(mounts.servedNow(job(3, "password"), late)).toEqual({ version: 1 });
  isRollingOut = false;
  expect(mounts.servedNow(job(3, "password"), late + 1)).toEqual({ version: 3 });
  isRollingOut = true;
  expect(mounts.servedNow(job(3, "password"), late + 2)).toEqual({ version: 3 });
});
