import type { IncomingMessage } from "node:http";
import { Duplex, PassThrough, Writable } from "node:stream";
import type { Fields } from "../json.ts";
import { notSimulated } from "../status.ts";
import type { CommandStreams, PodStreams, PodTarget } from "./pod-streams.ts";
import { WebSocketConnection } from "./web-socket.ts";

/**
 * Channels of a command:
 * https://github.com/kubernetes/kubernetes/blob/v1.36.3/staging/src/k8s.io/apimachinery/pkg/util/remotecommand/constants.go
 */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
/** Followed by the number of a channel that the client sends nothing more on. */
const CLOSE = 255;

/** Protocols with one byte for the channel in front of each message, the preferred one first. */
const COMMAND_PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const PORT_PROTOCOLS = ["v4.channel.k8s.io"];

export interface StreamRequest {
  readonly target: PodTarget;
  readonly kind: "exec" | "attach" | "portforward";
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * Serves a stream by WebSocket channels, or hands it to the program for other protocols. Fails with 501 if there is
 * none.
 */
export function serveStream(programs: PodStreams, stream: StreamRequest): void {
  const { target, kind, request, socket, head } = stream;
  if (serveChannels(programs, stream)) return;
  if (programs.upgrade === undefined) throw notSimulated(`pods/${kind} by this protocol`);
  programs.upgrade(target, request, socket, head);
}

/** Serves a stream by WebSocket channels. False if it is of another protocol or there is no program for it. */
function serveChannels(programs: PodStreams, stream: StreamRequest): boolean {
  const { kind, request } = stream;
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
  const known = kind === "portforward" ? PORT_PROTOCOLS : COMMAND_PROTOCOLS;
  const protocol = known.find((each) => offered.includes(each));
  if (protocol === undefined || request.headers.upgrade?.toLowerCase() !== "websocket") return false;
  if (kind === "portforward") return forwardPorts(programs, stream, protocol);
  return runCommand(programs, stream, protocol);
}

function runCommand(programs: PodStreams, stream: StreamRequest, protocol: string): boolean {
  const { target, kind, query, request, socket, head } = stream;
  const run =
    kind === "attach"
      ? programs.attach && ((streams: CommandStreams) => programs.attach?.(target, streams))
      : programs.exec && ((streams: CommandStreams) => programs.exec?.(target, query.getAll("command"), streams));
  if (run === undefined) return false;
  const stdin = new PassThrough();
  const connection = WebSocketConnection.accept(request, socket, head, protocol, (message) => {
    if (message[0] === STDIN) stdin.write(message.subarray(1));
    if (message[0] === CLOSE && message[1] === STDIN) stdin.end();
  });
  socket.once("close", () => stdin.destroy());
  const streams = { stdin, stdout: channel(connection, STDOUT), stderr: channel(connection, STDERR) };
  void Promise.resolve(run(streams)).then(
    (code = 0) => end(connection, code === 0 ? { metadata: {}, status: "Success" } : failure(code)),
    (error: unknown) =>
      end(connection, { metadata: {}, status: "Failure", reason: "InternalError", message: String(error), code: 500 }),
  );
  return true;
}

function end(connection: WebSocketConnection, status: Fields): void {
  connection.send(Buffer.concat([Buffer.from([ERROR]), Buffer.from(JSON.stringify(status))]));
  connection.close();
}

function failure(code: number): Fields {
  return {
    ...{ metadata: {}, status: "Failure", reason: "NonZeroExitCode" },
    message: `command terminated with exit code ${code}`,
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  };
}

/** Two channels for each port: data and errors. Each begins with the port's number. */
function forwardPorts(programs: PodStreams, stream: StreamRequest, protocol: string): boolean {
  const { target, query, request, socket, head } = stream;
  if (programs.portForward === undefined) return false;
  const ports = query.getAll("ports").flatMap((list) => list.split(",").map(Number));
  const ends: PassThrough[] = [];
  const connection = WebSocketConnection.accept(request, socket, head, protocol, (message) => {
    ends[(message[0] ?? 0) >> 1]?.write(message.subarray(1));
  });
  for (const [index, port] of ports.entries()) {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    for (const at of [2 * index, 2 * index + 1]) connection.send(Buffer.concat([Buffer.from([at]), number]));
    const incoming = new PassThrough();
    ends.push(incoming);
    const both = Duplex.from({ readable: incoming, writable: channel(connection, 2 * index) });
    both.on("error", () => undefined);
    socket.once("close", () => both.destroy());
    programs.portForward(target, port, both);
  }
  return true;
}

/** What is written goes to one channel, as fast as the client receives it. */
function channel(connection: WebSocketConnection, number: number): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) =>
      connection.send(Buffer.concat([Buffer.from([number]), chunk]), () => done()),
  });
}
