import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

export type DnsRecord =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "SRV"; readonly target: string; readonly port: number }
  | { readonly type: "MX" | "NS" | "CNAME"; readonly target: string };

/** What the server says about a name: its records, or a code. Names that it does not have are NXDOMAIN. */
export type DnsAnswer = readonly DnsRecord[] | "SERVFAIL" | "silence";

const TYPES = { A: 1, NS: 2, CNAME: 5, MX: 15, AAAA: 28, SRV: 33 };
const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 };

/** A DNS server on loopback. */
export class DnsServer implements AsyncDisposable {
  readonly answers = new Map<string, DnsAnswer>();
  /** The names that were asked for. */
  readonly asked: string[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (message, { port, address }) => {
      const reply = this.#reply(message);
      if (reply) socket.send(reply, port, address);
    });
  }

  static async start(): Promise<DnsServer> {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new DnsServer(socket);
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #reply(query: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1);
    const question = query.subarray(12, at + 5);
    const name = labels.join(".").toLowerCase();
    this.asked.push(name);
    const answer = this.answers.get(name);
    if (answer === "silence") return undefined;
    const code = answer === undefined ? "NXDOMAIN" : answer === "SERVFAIL" ? "SERVFAIL" : "NOERROR";
    const known: readonly DnsRecord[] = typeof answer === "object" ? answer : [];
    const records = known.filter((each) => TYPES[each.type] === type || each.type === "CNAME");
    const header = Buffer.alloc(12);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(0x8180 | CODES[code], 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, question, ...records.map(recordBytes)]);
  }
}

function recordBytes(record: DnsRecord): Buffer {
  const data = dataOf(record);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0); // the name of the question
  head.writeUInt16BE(TYPES[record.type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(1, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(record: DnsRecord): Buffer {
  switch (record.type) {
    case "A":
      return Buffer.from(record.address.split(".").map(Number));
    case "AAAA":
      return Buffer.from(record.address.replaceAll(":", ""), "hex");
    case "SRV": {
      const numbers = Buffer.alloc(6);
      numbers.writeUInt16BE(record.port, 4);
      return Buffer.concat([numbers, nameBytes(record.target)]);
    }
    case "MX":
      return Buffer.concat([Buffer.from([0, 10]), nameBytes(record.target)]);
    default:
      return nameBytes(record.target);
  }
}

function nameBytes(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}
