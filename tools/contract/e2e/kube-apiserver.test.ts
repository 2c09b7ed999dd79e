import { kubeContract } from "@evenkeel/kube/contract";
import { startApiServer } from "../src/api-server.ts";

kubeContract("kube-apiserver", () => startApiServer({ name: "contract", nodes: 1 }));
