import { replicaMatrix } from "./replica-matrix.ts";

replicaMatrix(29, ["Zero", "Wake"]);
