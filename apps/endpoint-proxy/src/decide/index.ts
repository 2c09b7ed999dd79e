export { proxyDecider } from "./proxy-decider.ts";
