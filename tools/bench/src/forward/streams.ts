import { Agent, get } from "node:http";
import { LARGE } from "./nginx.ts";
import { type Running } from "./programs.ts";
import { residentBytes } from "./process-usage.ts";

const STREAMS = 1000;
const WARM_UP = 200;
const AT_ONCE = 16;

export interface StreamMemory {
  readonly streams: number;
  /** Bytes in RAM after the first 200 streams, after all, and the most that was seen in between. */
  readonly warm: number;
  readonly end: number;
  readonly peak: number;
}

/** Sends a thousand answers of 10 MB through a proxy, sixteen at once, and watches its memory. */
export async function streamMemory({ pid, port }: Running): Promise<StreamMemory> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let started = 0;
  let done = 0;
  let warm = NaN;
  let peak = 0;
  const one = async () => {
    while (started++ < STREAMS) {
      await download(`http://127.0.0.1:${port}/large`, agent);
      const resident = residentBytes(pid);
      if (++done === WARM_UP) warm = resident;
      if (done > WARM_UP) peak = Math.max(peak, resident);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    return { streams: done, warm, end: residentBytes(pid), peak };
  } finally {
    agent.destroy();
  }
}

function download(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let bytes = 0;
      response.on("data", (part: Buffer) => (bytes += part.length));
      response.on("error", reject);
      response.on("end", () =>
        bytes === LARGE && response.statusCode === 200
          ? resolve()
          : reject(new Error(`a stream ended with ${response.statusCode ?? 0} after ${bytes} of ${LARGE} bytes`)),
      );
    }).on("error", reject);
  });
}
