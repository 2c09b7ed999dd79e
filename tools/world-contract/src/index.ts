export { hasPython, startMoto } from "./moto.ts";
