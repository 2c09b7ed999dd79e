import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tideLevel } from "./tide.ts";

const usage = `Usage: make demo [PORT=8080]

Runs the fixture service on a tank that the tide fills and empties, until Ctrl-C.
`;

const [port = "8080"] = process.argv.slice(2);
if (!/^\d+$/.test(port)) {
  console.error(usage);
  process.exit(port === "--help" ? 0 : 2);
}

const folder = mkdtempSync(join(tmpdir(), "evenkeel-demo-"));
const levelFile = join(folder, "level");
const started = performance.now();
const rise = () => writeFileSync(levelFile, `${tideLevel((performance.now() - started) / 1000)}\n`);
rise();
const tide = setInterval(rise, 3000);

const ballastMain = join(import.meta.dirname, "../../ballast/src/main.ts");
const flags = {
  "level-file": levelFile,
  "listen-host": "127.0.0.1",
  "admin-port": port,
  "health-port": "0",
  port: "0",
  "shutdown-delay": "0",
};
const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
const ballast = spawn(process.execPath, [ballastMain, ...args], {
  stdio: ["ignore", "inherit", "inherit"],
  // A group of its own: the terminal's Ctrl-C reaches this process alone, which passes it on once. Twice would mean "at once".
  detached: true,
});

console.log(`Decisions follow as JSON lines. The page of health, settings and decisions: http://127.0.0.1:${port}/`);
console.log("Ctrl-C stops it.");

const stop = () => ballast.kill("SIGTERM");
process.on("SIGINT", stop).on("SIGTERM", stop);
ballast.on("close", (code) => {
  clearInterval(tide);
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});
