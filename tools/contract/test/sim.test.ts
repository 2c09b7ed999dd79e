import { kubeContract } from "@evenkeel/kube/contract";
import { startSimServer } from "../src/sim-server.ts";

kubeContract("sim", startSimServer);
