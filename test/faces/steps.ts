export { refOf } from "../../src/steps/fingerprint.ts";
export { CallsInFlight } from "../../src/steps/in-flight.ts";
export type { Job } from "../../src/steps/job.ts";
export { copyAsJson } from "../../src/steps/json-value.ts";
export { PendingTasks } from "../../src/steps/pending-tasks.ts";
export { reconcile } from "../../src/steps/reconcile.ts";
export { RestoreWindow } from "../../src/steps/restore.ts";
export type {
  Candidates,
  Effect,
  Intent,
  LostRun,
  Search,
  Step,
  StepEnd,
  StepRunner,
} from "../../src/steps/step.ts";
export { Steps, type StepsOptions } from "../../src/steps/steps.ts";
export { subjectOf } from "../../src/steps/subject.ts";
export { commentStep, messageStep, postStep } from "../../src/steps/write-steps.ts";
export type { WriteResult } from "../../src/steps/writes.ts";
