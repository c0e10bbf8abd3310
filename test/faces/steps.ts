export { findComment, findMessage, findPost } from "../../src/steps/find.ts";
export type { Job } from "../../src/steps/job.ts";
export { PendingTasks } from "../../src/steps/pending-tasks.ts";
export { refOf } from "../../src/steps/reconcile.ts";
export { Restored } from "../../src/steps/restore.ts";
export { Shared } from "../../src/steps/shared.ts";
export type {
  Effect,
  OpenIntent,
  Past,
  Step,
  StepEnd,
  StepRunner,
} from "../../src/steps/step.ts";
export { DurableSteps, type StepScope } from "../../src/steps/steps.ts";
export { subjectOf } from "../../src/steps/subject.ts";
export { messageStep, postStep } from "../../src/steps/writes.ts";
