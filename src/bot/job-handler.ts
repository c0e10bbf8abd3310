import type { Client } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import { duringEvent } from "../core/current-event.ts";
import type { EventJob, JobHandler } from "../dispatcher/run.ts";
import type { BotOptions } from "../options.ts";
import { LoopGuard } from "../router/loop-guard.ts";
import { OwnAccount } from "../router/own-account.ts";
import type { Router } from "../router/router.ts";

/** Runs the handlers of a bot, except for events that it caused itself or that the loop guard holds back. */
export function createJobHandler(
  router: Router,
  client: Client,
  { loopGuard = {} }: Pick<BotOptions, "loopGuard">,
  clock: Clock,
): JobHandler {
  const account = new OwnAccount(client, clock);
  const platformNow = () => client.platformNow() ?? clock.now();
  const guard = loopGuard === false ? undefined : new LoopGuard(loopGuard, platformNow);
  const run = async (job: EventJob) => {
    if (await account.hasCaused(job.event, job.signal)) {
      job.log.debug("caused by the bot itself: no handler runs");
      return;
    }
    guard?.check(job.event, () => job.log);
    await router.run(job, client);
  };
  return {
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
    stepEnded: (event, { step, outcome, result }) => {
      account.noteWrite(result);
      const wasSent = outcome === "made" || outcome === "found";
      if (wasSent && /^(reply|comment)\//.test(step)) guard?.noteAnswer(event);
    },
  };
}

/** Requests carry the event: the log shows it, and a platform on this machine receives it. */
function forEvent<T>({ event: { id }, trace }: EventJob, work: () => T): T {
  return duringEvent({ id, trace }, work);
}
