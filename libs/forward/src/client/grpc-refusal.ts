import type { OutgoingHttpHeaders } from "node:http2";

/** The gRPC status for an HTTP status, from gRPC's own table, except 504, which is an exceeded deadline. */
const codes: Readonly<Record<number, number>> = {
  400: 13,
  401: 16,
  403: 7,
  404: 12,
  429: 14,
  500: 13,
  501: 12,
  502: 14,
  503: 14,
  504: 4,
};

/** A refusal in the format of gRPC: trailers only. */
export function grpcRefusal(status: number, message: string): OutgoingHttpHeaders {
  return {
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-status": String(codes[status] ?? 2),
    "grpc-message": message.trim().replaceAll(/[^\x20-\x24\x26-\x7e]/gu, encodeURIComponent),
  };
}
