/**
 * What is used of client-node at run time. It is loaded on demand, and only from here, so that a bundler can leave out
 * the rest, which is nine tenths of it.
 */
export { KubeConfig } from "@kubernetes/client-node";
