/**
 * Minimum bytes of a part whose memory is freed as soon as it is sent. The garbage collector does not count the memory
 * of buffers, so a large transfer would leave tens of megabytes behind.
 */
const LARGE = 16_384;

/** What to call after a part was written that has no other reader. Undefined if it is small. */
export function freeWhenSent(part: Buffer): ((error?: Error | null) => void) | undefined {
  if (part.length < LARGE) return undefined;
  return (error) => {
    if (!error) free(part);
  };
}

/** Frees the memory of a buffer, unless it is part of a larger one. */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer.byteLength === byteLength) (buffer as ArrayBuffer).transfer(0);
}
