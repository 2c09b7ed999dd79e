// The smallest program that plans in a thread, for tests of the thread.
import { answerPlan } from "../observe/worker/answer-plan.ts";

answerPlan();
