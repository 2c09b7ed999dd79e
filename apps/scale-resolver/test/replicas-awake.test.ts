import { replicaMatrix } from "./replica-matrix.ts";

replicaMatrix(27, ["Serve", "Guard"]);
