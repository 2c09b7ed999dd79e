import { Agent, get } from "node:http";
import { median } from "../result.ts";
import { LARGE } from "./nginx.ts";
import { type Running } from "./programs.ts";
import { residentBytes } from "./process-usage.ts";

const STREAMS = 1000;
/** Streams until the buffers and the heap have found their size. */
const WARM_UP = 400;
/** Over so many streams the median is taken: memory goes up and down with every collection. */
const WINDOW = 200;
const AT_ONCE = 16;

/** Bytes in RAM. */
export interface StreamMemory {
  readonly streams: number;
  /** While streams 401 to 600 ended. */
  readonly warm: number;
  /** While the last 200 ended. */
  readonly end: number;
  /** The most that was seen. */
  readonly most: number;
}

/** Sends a thousand answers of 10 MB through a proxy, sixteen at once, and watches its memory. */
export async function streamMemory({ pid, port }: Running): Promise<StreamMemory> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let started = 0;
  const resident: number[] = [];
  const one = async () => {
    while (started++ < STREAMS) {
      await download(`http://127.0.0.1:${port}/large`, agent);
      resident.push(residentBytes(pid));
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    return {
      streams: resident.length,
      warm: median(resident.slice(WARM_UP, WARM_UP + WINDOW)),
      end: median(resident.slice(-WINDOW)),
      most: Math.max(...resident),
    };
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
