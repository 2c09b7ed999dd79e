/** A pod behind a Service, as its EndpointSlices have it. */
export interface ServiceEndpoint {
  readonly address: string;
  /** The pod's; empty where the slice does not say. */
  readonly pod: string;
  readonly uid: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** Where it listens, by the name of the Service's port (empty for one without name). */
  readonly ports: Readonly<Record<string, number>>;
}
