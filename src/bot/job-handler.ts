import type { Client } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import { duringEvent } from "../core/current-event.ts";
import type { EventJob, JobHandler } from "../dispatcher/run.ts";
import type { LaneOf } from "../events/lane.ts";
import type { BotOptions } from "../options.ts";
import { LoopGuard } from "../router/loop-guard.ts";
import { OwnAccount } from "../router/own-account.ts";
import type { Router } from "../router/router.ts";

/** Parts and options of a bot that its job handler uses. */
export interface JobHandlerOptions extends Pick<BotOptions, "loopGuard"> {
  readonly client: Client;
  readonly clock: Clock;
  readonly laneOf: LaneOf;
}

/** The steps of the framework's own writes. Steps of `ctx.step` are named `step/…`. */
const WRITE = /^(reply|comment|post)\//;

/** Runs the handlers of a bot, except for events that it caused itself or that the loop guard holds back. */
export function createJobHandler(
  router: Router,
  { client, clock, laneOf, loopGuard = {} }: JobHandlerOptions,
): JobHandler {
  const account = new OwnAccount(client, clock);
  const platformNow = () => client.platformNow() ?? clock.now();
  const guard =
    loopGuard === false ? undefined : new LoopGuard(loopGuard, { now: platformNow, laneOf });
  const run = async (job: EventJob) => {
    if (account.hasCaused(job.event)) {
      job.log.debug("caused by the bot itself: no handler runs");
      return;
    }
    guard?.check(job.event, () => job.log);
    await router.run(job, client);
  };
  return {
    prepare: (job) => forEvent(job, () => account.learn(job.event, () => job.signal)),
    run: (job) => forEvent(job, () => run(job)),
    get handledTypes() {
      return router.handledTypes;
    },
    get handlesOtherTypes() {
      return router.handlesOtherTypes;
    },
    optionsFor: (type) => router.optionsFor(type),
    failed: (error, job) => forEvent(job, () => router.observe(error, job)),
    over: (job) => router.forget(job),
    stepEnded: (event, step, { outcome, result }) => {
      const wasSent = outcome === "made" || outcome === "found";
      const kind = WRITE.exec(step)?.[1];
      if (!wasSent || kind === undefined) return;
      account.noteWrite(result);
      if (kind === "post") guard?.notePost(event);
      else guard?.noteAnswer(event);
    },
  };
}

/** Requests carry the event: the log shows it, and a platform on this machine receives it. */
function forEvent<T>({ event: { id }, trace }: EventJob, work: () => T): T {
  return duringEvent({ id, trace }, work);
}
