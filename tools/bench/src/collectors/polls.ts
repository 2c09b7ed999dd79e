import { connect } from "node:net";
import { cpuSeconds } from "../forward/process-usage.ts";

const CONNECTIONS = 16;

export interface PollRate {
  /** Requests that the server answers in a second of its own CPU time: the rate of a core that does nothing else. */
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

/** Asks a server for `path` again and again over some connections, as collectors do. */
export async function pollRate(port: number, path: string, pid: number, seconds: number): Promise<PollRate> {
  const began = performance.now();
  const end = began + seconds * 1000;
  const cpu = cpuSeconds(pid);
  const counts = await Promise.all(Array.from({ length: CONNECTIONS }, () => pollUntil(port, path, end)));
  const requests = counts.reduce((sum, count) => sum + count, 0);
  const used = cpuSeconds(pid) - cpu;
  return { perCpuSecond: requests / used, perSecond: requests / ((performance.now() - began) / 1000) };
}

/** Requests answered on one connection. Answers must be 200 with a length. */
function pollUntil(port: number, path: string, end: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const request = `GET ${path} HTTP/1.1\r\nhost: a\r\nx-prometheus-refresh-interval-seconds: 10\r\n\r\n`;
    let [count, missing, head] = [0, 0, ""];
    socket.setNoDelay();
    socket.on("connect", () => socket.write(request));
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      let rest = chunk.length;
      if (missing === 0) {
        head += chunk.toString("latin1", 0, 2048);
        const blank = head.indexOf("\r\n\r\n");
        if (blank < 0) return;
        if (!head.startsWith("HTTP/1.1 200")) {
          reject(new Error(head.slice(0, 300)));
          return;
        }
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1]);
        rest -= blank + 4 - (head.length - Math.min(chunk.length, 2048));
        head = "";
      }
      missing -= rest;
      if (missing > 0) return;
      count += 1;
      missing = 0;
      if (performance.now() < end) socket.write(request);
      else {
        socket.destroy();
        resolve(count);
      }
    });
  });
}
