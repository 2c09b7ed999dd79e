import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { TarEntry } from "@evenkeel/control-plane";

/** As in the base image of infra/docker/Dockerfile, so that its entry point runs in both. */
export const NODE_PROGRAM = "/nodejs/bin/node";

/** The user `nonroot` of that base image. */
export const NONROOT = 65532;

const CA_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** The libraries that a program is linked to, by the paths where its loader looks: the output of `ldd`. */
export function librariesOf(ldd: string): string[] {
  return ldd.split("\n").flatMap((line) => /^\s+(?:\S+ => )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

/**
 * The lowest layer of every image: the Node that runs this program, its libraries, and what an unprivileged process
 * looks for.
 */
export function nodeLayer(): TarEntry[] {
  return [
    { path: NODE_PROGRAM.slice(1), mode: 0o755, content: readFileSync(process.execPath) },
    ...linkedTo(process.execPath),
    {
      path: "etc/passwd",
      content: `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${NONROOT}:${NONROOT}::/home/nonroot:/sbin/nologin\n`,
    },
    { path: "etc/group", content: `root:x:0:\nnonroot:x:${NONROOT}:\n` },
    { path: "etc/nsswitch.conf", content: "hosts: files dns\n" },
    { path: "home/nonroot" },
    { path: "tmp", mode: 0o1777 },
    ...(existsSync(CA_CERTIFICATES) ? [copied(CA_CERTIFICATES, 0o644)] : []),
  ];
}

/** A program of this machine and its libraries. */
export function programLayer(program: string): TarEntry[] {
  return [copied(program, 0o755), ...linkedTo(program)];
}

function linkedTo(program: string): TarEntry[] {
  return librariesOf(execFileSync("ldd", [program], { encoding: "utf8" })).map((path) => copied(path, 0o755));
}

function copied(path: string, mode: number): TarEntry {
  return { path: path.slice(1), mode, content: readFileSync(path) };
}
