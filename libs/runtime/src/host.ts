/**
 * What a process gives its main: the only part of `process` that the runtime uses, so that a test can stand in for it.
 */
export type Host = Pick<NodeJS.Process, "argv" | "env" | "stdout" | "stderr" | "on" | "off" | "exit">;
