export { hasPython, startMoto } from "./moto.ts";
export { hasPrometheus, type RealPrometheus, startRealPrometheus } from "./real-prometheus.ts";
