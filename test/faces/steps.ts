export { refOf, requestPlace } from "../../src/steps/fingerprint.ts";
export { effectCertainty, reconcile } from "../../src/steps/reconcile.ts";
export { RestoreWindow } from "../../src/steps/restore.ts";
export type {
  Candidates,
  Effect,
  Intent,
  Job,
  LostRun,
  RunSteps,
  Search,
  Step,
  StepEnd,
  StepRunner,
} from "../../src/steps/step.ts";
export { Steps, type StepsOptions } from "../../src/steps/steps.ts";
export { commentStep, messageStep, postStep, subjectOf } from "../../src/steps/writes.ts";
