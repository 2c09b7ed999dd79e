// A process that is both ends of a download: the pod that it comes from, and the client that it goes to.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

const MIB = 2 ** 20;
/** After how many bytes a slow reader rests, and for how many milliseconds; half way it stops until everybody waits for it. */
const SLOW = { bytes: 4 * MIB, rest: 5 };

/** What is asked of it. */
export interface Download {
  readonly port: number;
  readonly size: number;
  readonly reader: "fast" | "slow";
}

export type FarNews =
  | { readonly kind: "listening"; readonly port: number }
  | {
      readonly kind: "done";
      readonly got: string;
      readonly wanted: string;
      /** Bytes that the pod had written and the client had not read, when the client had stopped for good. */
      readonly ahead: number;
    };

const nap = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const tell = (news: FarNews) => process.send?.(news);
const part = randomBytes(MIB);
let written = 0;

const pod = createServer((asked, response) => {
  const size = Number(asked.url?.slice(1));
  response.writeHead(200, { "content-length": size });
  void (async () => {
    for (written = 0; written < size;) {
      written += part.length;
      if (!response.write(part)) await once(response, "drain");
    }
    response.end();
  })();
});

async function download({ port, size, reader }: Download): Promise<void> {
  const asked = request({ host: "127.0.0.1", port, path: `/${size}`, agent: false }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const [hash, whole] = [createHash("sha1"), createHash("sha1")];
  let read = 0;
  let ahead = 0;
  for await (const data of answer as AsyncIterable<Buffer>) {
    const last = read;
    hash.update(data);
    read += data.length;
    if (reader === "fast") continue;
    if (last < size / 2 && read >= size / 2) {
      for (let still = -1; still !== written; await nap(300)) still = written;
      ahead = written - read;
    } else if (Math.floor(last / SLOW.bytes) < Math.floor(read / SLOW.bytes)) await nap(SLOW.rest);
  }
  for (let done = 0; done < size; done += part.length) whole.update(part);
  tell({ kind: "done", got: hash.digest("hex"), wanted: whole.digest("hex"), ahead });
}

process.on("message", (asked: Download) => void download(asked));
pod.listen(0, "127.0.0.1", () => tell({ kind: "listening", port: (pod.address() as AddressInfo).port }));
