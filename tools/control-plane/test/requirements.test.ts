import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { foldersFrom } from "../src/folders.ts";
import { whyNoRealNode } from "../src/node/requirements.ts";

const main = join(import.meta.dirname, "../src/main.ts");
const isRoot = process.getuid?.() === 0;

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "requirements-"));
  chmodSync(base, 0o777);
  mkdirSync(join(base, "bin"));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

/** Puts a program of our own before the machine's. */
function replace(program: string, script: string): void {
  writeFileSync(join(base, "bin", program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

async function start(uid?: number): Promise<{ code: unknown; said: string }> {
  const env = { ...process.env, HOME: base, PATH: [join(base, "bin"), process.env["PATH"]].join(delimiter) };
  const folders = { XDG_CACHE_HOME: join(base, "cache"), XDG_STATE_HOME: join(base, "state") };
  const options = { env: { ...env, ...folders }, cwd: base, ...(uid === undefined ? {} : { uid, gid: uid }) };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, "start", "--node", "real"], options, (error, _stdout, said) =>
      resolve({ code: error?.code ?? 0, said }),
    );
  });
}

test("a start without root says so in one sentence", async () => {
  const { code, said } = await start(isRoot ? 65532 : undefined);
  expect(code).toBe(1);
  expect(said).toMatch(/^EK_CLUSTER_REAL_NODE: .*needs root: .*sudo.*\n$/);
});

const why = whyNoRealNode(foldersFrom(process.env));
const testWhereNodesRun = why === undefined ? test : test.skip;

testWhereNodesRun.each([
  ["nf_tables", "nft", "exit 1", /nf_tables.*: modprobe nf_tables/],
  ["overlay mounts", "unshare", 'case "$*" in *overlay*) exit 1 ;; *) exec /usr/bin/unshare "$@" ;; esac', /overlay/],
  ["network namespaces", "unshare", "exit 1", /network namespaces/],
])(
  `a start without %s says so in one sentence${why === undefined ? "" : ` (${why})`}`,
  async (_, program, script, reason) => {
    replace(program, script);
    const { code, said } = await start();
    expect(code).toBe(1);
    expect(said).toMatch(/^EK_CLUSTER_REAL_NODE: [^\n]*\n$/);
    expect(said).toMatch(reason);
  },
);
