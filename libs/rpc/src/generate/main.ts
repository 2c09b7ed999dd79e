import { fileURLToPath } from "node:url";
import { Contract } from "./contract.ts";

const command = "node libs/rpc/src/generate/main.ts";
const contract = new Contract(fileURLToPath(new URL("../../", import.meta.url)));

function refuse(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line}\n`);
  if (lines.length > 0) process.exitCode = 1;
}

const [option, ...rest] = process.argv.slice(2);
const faults = contract.faults();
if (rest.length > 0 || ![undefined, "--check", "--accept"].includes(option)) {
  process.stderr.write(`usage: ${command} [--check | --accept]\n`);
  process.exitCode = 2;
} else if (option === "--check") {
  const drifted = contract.drifted();
  refuse([...faults, ...drifted.map((name) => `libs/rpc/${name} differs from the protos; mend it with: ${command}`)]);
} else if (faults.length > 0) {
  refuse(faults);
} else {
  contract.write();
  if (option === "--accept") contract.accept();
}
