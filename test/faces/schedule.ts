export { Crons } from "../../src/schedule/crons.ts";
export {
  type CronJob,
  DueMoments,
  type DueMomentsOptions,
} from "../../src/schedule/due-moments.ts";
export { DueTimers } from "../../src/schedule/due-timers.ts";
export { Schedule } from "../../src/schedule/schedule.ts";
