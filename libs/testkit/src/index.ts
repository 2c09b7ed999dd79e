export { definitionOf } from "./definition.ts";
export { ADMIN, kubeconfigFor, type KubeconfigOptions } from "./kubeconfig.ts";
export { type Certificate, localhostCertificate } from "./localhost-certificate.ts";
export { type LoopbackAddresses, loopbackAddresses } from "./loopback-addresses.ts";
export { type Exit, type Line, ServiceProcess, type ServiceProcessOptions } from "./service-process.ts";
export { World, type WorldOptions, type WorldParts, worldParts } from "./world.ts";
