import { readFileSync } from "node:fs";

/** Milliseconds between two looks at the memory of a process. */
const LOOK = 250;

/** Bytes of a process that are in memory. */
function residentSize(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

/** Looks at the memory of a process from now on; what it gives ends that, and says by how many bytes it had grown at most. */
export function watchMemory(pid: number): () => { readonly grown: number; readonly looks: number } {
  const before = residentSize(pid);
  const sizes: number[] = [];
  const timer = setInterval(() => sizes.push(residentSize(pid)), LOOK);
  return () => {
    clearInterval(timer);
    return { grown: Math.max(...sizes, residentSize(pid)) - before, looks: sizes.length };
  };
}
