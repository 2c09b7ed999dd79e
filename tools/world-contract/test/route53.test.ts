import { test } from "@jest/globals";
import { route53Contract } from "@evenkeel/sim/contract";
import { hasPython, startMoto } from "../src/index.ts";

if (await hasPython()) route53Contract("moto's Route 53", startMoto);
else test.skip("moto's Route 53: python3 with venv is not installed (Debian: python3-venv)", () => undefined);
