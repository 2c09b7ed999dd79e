// A gRPC server with TLS that answers with what it was sent, or a client that calls it, to run in a pod as one bundled
// file. The server gets CERT and KEY by its environment; the client gets a `GrpcLoad` as its argument, and prints how
// many calls ended with each status.
import { Client, credentials, Server, ServerCredentials, status, type ServiceDefinition } from "@grpc/grpc-js";

export interface GrpcLoad {
  /** Address and port. */
  readonly target: string;
  /** Calls, each on a connection of its own, all at once. */
  readonly count: number;
  /** The certificate of the server, which signs itself. */
  readonly ca: string;
  /** The name in that certificate. */
  readonly host: string;
}

const same = (bytes: Buffer): Buffer => bytes;
const definition = {
  echo: {
    ...{ path: "/evenkeel.test.Echo/Echo", requestStream: false, responseStream: false },
    ...{ requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same },
  },
} satisfies ServiceDefinition;

function serve({ CERT = "", KEY = "" }: NodeJS.ProcessEnv): void {
  const server = new Server();
  server.addService(definition, {
    echo: (call: { readonly request: Buffer }, answer: (error: null, bytes: Buffer) => void) =>
      answer(null, call.request),
  });
  const pair = { cert_chain: Buffer.from(CERT), private_key: Buffer.from(KEY) };
  server.bindAsync("0.0.0.0:8080", ServerCredentials.createSsl(null, [pair]), (error) => {
    if (error) throw error;
  });
  process.on("SIGTERM", () => setTimeout(() => process.exit(0), 2000));
}

async function load({ target, count, ca, host }: GrpcLoad): Promise<void> {
  const trust = credentials.createSsl(Buffer.from(ca));
  const options = { "grpc.ssl_target_name_override": host, "grpc.use_local_subchannel_pool": 1 };
  const call = async (index: number): Promise<string> => {
    const client = new Client(target, trust, options);
    const sent = Buffer.from(`call ${index}`);
    return new Promise((resolve) =>
      client.makeUnaryRequest(
        definition.echo.path,
        same,
        same,
        sent,
        { deadline: Date.now() + 60_000 },
        (error, got) => {
          client.close();
          if (error) resolve(status[error.code]);
          else resolve(got?.equals(sent) ? "OK" : "another answer");
        },
      ),
    );
  };
  const ends: Record<string, number> = {};
  for (const end of await Promise.all(Array.from({ length: count }, (_, index) => call(index))))
    ends[end] = (ends[end] ?? 0) + 1;
  console.log(JSON.stringify(ends));
}

const [, , argument] = process.argv;
if (argument === undefined) serve(process.env);
else void load(JSON.parse(argument) as GrpcLoad);
