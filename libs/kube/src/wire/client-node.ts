/**
 * What is used of client-node at run time. It is loaded when it is needed, and from here alone: a bundler that sees these names can
 * leave out the rest, which is nine tenths of it.
 */
export { KubeConfig } from "@kubernetes/client-node";
