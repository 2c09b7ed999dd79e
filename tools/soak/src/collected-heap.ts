import { once } from "node:events";
import { connect } from "node:net";

/** Has the process behind the probe's socket collect its garbage. Resolves with the bytes that are left. */
export async function collectedHeap(socket: string): Promise<number> {
  const connection = connect(socket);
  let text = "";
  connection.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(connection, "close");
  const bytes = Number(text || NaN);
  if (!(bytes > 0)) throw new Error(`the probe answered ${JSON.stringify(text)}`);
  return bytes;
}
