/** Watches how long the event loop is kept from others. */
export interface Stalls {
  /**
   * The longest event loop iteration since the start or the last question, in milliseconds of CPU time of the main
   * thread. Wall time would also count the moments in which a busy machine runs something else.
   */
  longest(): number;
}

export function watchStalls(): Stalls {
  let last = busy();
  let longest = 0;
  const iterate = () => {
    const now = busy();
    longest = Math.max(longest, now - last);
    last = now;
    setImmediate(iterate);
  };
  setImmediate(iterate);
  return {
    longest: () => {
      const found = longest;
      longest = 0;
      return found;
    },
  };
}

function busy(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Bytes of live JavaScript objects. Needs --expose-gc. */
export function liveHeap(): number {
  if (!globalThis.gc) throw new Error("run this with --expose-gc");
  for (let round = 0; round < 3; round++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}
