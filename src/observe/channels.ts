/**
 * Channels of `node:diagnostics_channel` on which a bot publishes what it does. The log, the metrics, the spans and the
 * reports to a local platform subscribe to them, and so can an application. A channel without subscribers costs almost
 * nothing.
 */
import { channel, type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { ShownError } from "../core/safe-text.ts";

/** The `Bot` or standalone `Client` that published the message. `undefined` if neither did. */
export interface BotMessage {
  /** The publisher. */
  readonly bot: object | undefined;
}

export const runOutcomes = ["done", "retry", "release", "dead", "lost", "skipped"] as const;
/**
 * Outcomes of a run. `lost`: another instance took over the event. `skipped`: the event returned to its lane before the
 * handlers started.
 */
export type RunOutcome = (typeof runOutcomes)[number];

export const leaseLosses = ["run", "result", "log"] as const;
/** How a lost lease was detected: during a `run`, while recording its `result`, or while reading the event `log`. */
export type LeaseLoss = (typeof leaseLosses)[number];

export const storeFailures = [
  "disk_low",
  "disk_full",
  "locked",
  "away",
  "broken",
  "file_lost",
] as const;
/**
 * Store failures. `disk_low`: new events are refused because free space is low. `file_lost`: the inbox's files are not
 * at their paths.
 */
export type StoreFailure = (typeof storeFailures)[number];

export const stepOutcomes = ["made", "recorded", "found", "elsewhere"] as const;
/**
 * Outcomes of a step. `made`: this run made the effect. `recorded`: an earlier run recorded the result. `found`: an
 * earlier run made the effect without recording it. `elsewhere`: the reply was made by another event with the same
 * subject.
 */
export type StepOutcome = (typeof stepOutcomes)[number];

/** A batch of events stored in the inbox. */
export interface BatchMessage extends BotMessage {
  /** Source of the events. */
  readonly source: "webhook" | "poll";
  /** The whole batch. */
  readonly events: readonly {
    /** Id of the event. */
    readonly id: string;
    /** Type of the event. */
    readonly type: string;
  }[];
  /** Ids of the events that are new. */
  readonly stored: readonly string[];
  /** Number of events that the inbox already contained. */
  readonly duplicates: number;
  /** Number of new events that cannot be handled. They are stored as dead letters. */
  readonly unusable: number;
  /** Id of the trace stored with the events. */
  readonly trace: string | undefined;
}

/** A message about requests, with the event whose handler sent them. */
interface RequestMessage extends BotMessage {
  /** Id of the event. Absent outside handlers. */
  readonly event?: string | undefined;
  /** Id of the event's trace. */
  readonly trace?: string | undefined;
}

/** A message about an event. */
export interface EventMessage extends BotMessage {
  /** Id of the event. */
  readonly event: string;
  /** Type of the event. */
  readonly type: string;
  /** Lane of the event. */
  readonly lane: string;
  /** Number of the run, starting at 1. */
  readonly attempt: number;
  /** Id of the event's trace. `undefined` if the event was stored without one. */
  readonly trace: string | undefined;
}

/** A function of the bot's author that may have blocked the event loop. */
export interface BlockSuspect {
  /** Name of the function, such as `on("mention")` or `lane()`. `undefined` between a run's functions. */
  readonly handler: string | undefined;
  /** Id of the run's event. Absent, like the fields below, if the function runs outside handlers. */
  readonly event?: string;
  /** Type of the event. */
  readonly type?: string;
  /** Lane of the event. */
  readonly lane?: string;
  /** Number of the run, starting at 1. */
  readonly attempt?: number;
  /** Id of the event's trace. `undefined` if the event was stored without one. */
  readonly trace?: string | undefined;
}

/** Message of each channel, by the channel name after `service-bot:`. Times are in ms. */
export interface ChannelMessages {
  /** Events from the webhook or the event log were stored. */
  readonly batch: BatchMessage;
  /** A webhook delivery got its response. */
  readonly delivery: BotMessage & {
    /** HTTP status of the response. */
    readonly status: number;
    /** Error code in the response. */
    readonly code?: string | undefined;
    /** Error message in the response. */
    readonly reason?: string | undefined;
    /** Time from the last byte of the body to the response. Absent if the signature was invalid. */
    readonly ms?: number | undefined;
    /** Absent unless the batch was stored. */
    readonly batch?: BatchMessage | undefined;
    /** Error that prevented the batch from being stored. */
    readonly error?: unknown;
    /** Id of the trace. */
    readonly trace?: string | undefined;
    /** True if `service-bot doctor` sent a forged request to test the signature check. */
    readonly isProbe?: boolean;
  };
  /** The event log was read to its end, or reading failed with `code`. */
  readonly poll: BotMessage & {
    /** Error code. `undefined` if the log was read. */
    readonly code: string | undefined;
    /** False if the reader stopped because pages contained no events. Absent if the log could not be read. */
    readonly atEnd?: boolean;
    /** Error that prevented the log from being read. */
    readonly error?: unknown;
    /** Delay before the next read. */
    readonly retryInMs?: number;
    /** Consequence for the bot, as text. Present if the token may not read the log. */
    readonly meanwhile?: string | undefined;
  };
  /** Polling took over from the webhook (`polling`), or the webhook took over again (`auditing`). */
  readonly mode: BotMessage & {
    /** The new mode. */
    readonly mode: "auditing" | "polling";
    /** Explanation for a person. */
    readonly reason: string;
  };
  /** Another instance took over the lease on a run or on the event log. `term` is set only for the log. */
  readonly "lease-lost": BotMessage & {
    /** Moment at which the loss was noticed. */
    readonly what: LeaseLoss;
    /** Number of this instance's term as the reader of the log. */
    readonly term?: number | undefined;
  };
  /** A run of an event's handlers ended, and its outcome is stored. */
  readonly run: EventMessage & {
    /** Outcome of the run. */
    readonly outcome: RunOutcome;
    /** Duration of the run. */
    readonly ms: number;
    /** Delay before the next run. Absent if there is none. */
    readonly retryInMs?: number | undefined;
    /** Error of a failed run, without secrets or users' text. */
    readonly error?: ShownError | undefined;
    /** Id of the event's conversation. */
    readonly conversationId?: string;
    /** Id of the event's post. */
    readonly postId?: string;
    /** True if the loop guard held back the event. */
    readonly isLoopHeld?: boolean;
  };
  /** A handler's step got its result. */
  readonly step: EventMessage & {
    /** Name of the step. */
    readonly step: string;
    /** Source of the result. */
    readonly outcome: StepOutcome;
    /** Platform id of the message, comment or post. */
    readonly ref: string | undefined;
  };
  /** A request to the platform ended. Each retry is a separate request. */
  readonly request: RequestMessage & {
    /** HTTP method. */
    readonly method: string;
    /** Path below `/api/v1`, without the query. */
    readonly path: string;
    /** Method and path template, such as `POST /posts/{id}/comments`. */
    readonly operation: string;
    /** HTTP status. `undefined` if there was no response. */
    readonly status: number | undefined;
    /** Error code. Absent if the request succeeded or the caller aborted it. */
    readonly code?: string | undefined;
    /** Duration of the request. */
    readonly ms: number;
  };
  /** A request was not sent, because the platform is down or the request budget is used up. */
  readonly "held-back": BotMessage & {
    /** Error code of the call. */
    readonly code: string;
  };
  /** Requests of one kind are waiting for the request budget. Published at most once a minute. */
  readonly "budget-wait": RequestMessage & {
    /** `write`, `read`, `audit` or `poll`. */
    readonly kind: string;
    /** The bot's request budget. */
    readonly perMinute: number;
  };
  /** The bot started or stopped pausing requests. */
  readonly circuit: RequestMessage & {
    /** `platform`, `token`, or an operation such as `POST /posts`. */
    readonly of: string;
    /** Reason for the pause. */
    readonly why: "outages" | "quota" | "token";
    /** True while requests are paused. */
    readonly open: boolean;
    /** Delay before the next attempt. */
    readonly retryInMs: number;
    /** Response that rejected the token. */
    readonly error?:
      | (Error & {
          /** HTTP status. */
          readonly status: number;
        })
      | undefined;
  };
  /** The event loop was blocked for over a second, so the process handled no other event and no delivery. */
  readonly blocked: BotMessage & {
    /** Duration of the block. */
    readonly ms: number;
    /** True if the only suspect caused the block. */
    readonly isCertain: boolean;
    /** Functions that may have caused the block, at most 100. Empty if no handler was running. */
    readonly suspects: readonly BlockSuspect[];
  };
  /** A store transaction was committed or rolled back. */
  readonly transaction: BotMessage & {
    /** Duration of the transaction. */
    readonly ms: number;
    /** False if the transaction was rolled back. */
    readonly isCommitted: boolean;
  };
  /** The store could not do its work. */
  readonly "store-failure": BotMessage & {
    /** Kind of failure. */
    readonly reason: StoreFailure;
  };
  /** The inbox's files were lost (`problem`), saved (`savedTo`), or are in their places again. */
  readonly "inbox-file": BotMessage & {
    /** Sentence that names the file and what happened. `undefined` if the files are in order. */
    readonly problem: string | undefined;
    /** Path of a new copy that contains the deleted inbox. */
    readonly savedTo?: string;
    /** Error that prevented the copy. */
    readonly error?: unknown;
  };
}

/** A message about work that may contain other work. The publisher completes it when the work ends. */
interface WorkMessage extends BotMessage {
  /** Trace of the work. A subscriber to `start` may replace it. */
  trace?: string | undefined;
  /** Error, if the work failed. */
  error?: unknown;
  /** Runs the work in a subscriber's async context. Set by a subscriber to `start`. */
  around?: <T>(work: () => T) => T;
}

/** Message of each tracing channel, by the channel name after `service-bot:`. */
export interface WorkMessages {
  /** A delivery, from the signature check to the response. */
  readonly delivery: WorkMessage & {
    /** HTTP status. Present once there is a response. */
    status?: number;
    /** Present once the events are stored. */
    batch?: BatchMessage;
  };
  /** A transaction that stores pages of the event log. */
  readonly page: WorkMessage & {
    /** Present once the events are stored. */
    batch?: BatchMessage;
  };
  /** A run of an event's handlers. `trace` is the stored trace, including its span. */
  readonly run: WorkMessage &
    Omit<EventMessage, "trace"> & {
      /** Source of the event. */
      readonly source: "webhook" | "poll";
      /** Value of `ctx.late`. */
      readonly late: boolean;
      /** Present once the run has ended. */
      outcome?: RunOutcome;
    };
  /** A handler's step. */
  readonly step: WorkMessage & {
    /** Name of the step. */
    readonly step: string;
    /** Present once the step has its result. */
    outcome?: StepOutcome;
  };
  /** An attempt to send a request to the platform. */
  readonly request: WorkMessage & {
    /** HTTP method. */
    readonly method: string;
    /** Path template, such as `/posts/{id}`. */
    readonly template: string;
    /** URL of the platform. */
    readonly baseUrl: string;
    /** `read` and `write` come from handlers; `audit` and `poll` read the event log. */
    readonly kind: string;
    /** Number of the attempt, starting at 1. */
    readonly number: number;
    /** HTTP status. Present once there is a response. */
    status?: number;
  };
}

/** The publisher's side of a channel. Publishers check `hasSubscribers` before they build a message. */
export interface FactChannel<M> {
  readonly hasSubscribers: boolean;
  publish(message: M): void;
}

const PREFIX = "service-bot:";

export const channels: { readonly [K in keyof ChannelMessages]: FactChannel<ChannelMessages[K]> } =
  {
    batch: channel(`${PREFIX}batch`),
    delivery: channel(`${PREFIX}delivery`),
    poll: channel(`${PREFIX}poll`),
    mode: channel(`${PREFIX}mode`),
    "lease-lost": channel(`${PREFIX}lease-lost`),
    run: channel(`${PREFIX}run`),
    step: channel(`${PREFIX}step`),
    request: channel(`${PREFIX}request`),
    "held-back": channel(`${PREFIX}held-back`),
    "budget-wait": channel(`${PREFIX}budget-wait`),
    circuit: channel(`${PREFIX}circuit`),
    blocked: channel(`${PREFIX}blocked`),
    transaction: channel(`${PREFIX}transaction`),
    "store-failure": channel(`${PREFIX}store-failure`),
    "inbox-file": channel(`${PREFIX}inbox-file`),
  };

export const works: {
  readonly [K in keyof WorkMessages]: TracingChannel<unknown, WorkMessages[K]>;
} = {
  delivery: tracingChannel(`${PREFIX}delivery`),
  page: tracingChannel(`${PREFIX}page`),
  run: tracingChannel(`${PREFIX}run`),
  step: tracingChannel(`${PREFIX}step`),
  request: tracingChannel(`${PREFIX}request`),
};

/**
 * Runs work, and publishes its start, error and end (`asyncEnd`) on a tracing channel. Does not publish the result,
 * because it contains users' text.
 *
 * @param message called only if there are subscribers
 * @param work receives the message and completes it
 */
export function traced<M extends WorkMessage, T>(
  channel: TracingChannel<unknown, M>,
  message: () => NoInfer<M>,
  work: (message: NoInfer<M> | undefined) => Promise<T>,
): Promise<T> {
  return channel.hasSubscribers ? trace(channel, message(), work) : work(undefined);
}

async function trace<M extends WorkMessage, T>(
  { start, error, asyncEnd }: TracingChannel<unknown, M>,
  message: M,
  work: (message: M) => Promise<T>,
): Promise<T> {
  const run = () => work(message);
  try {
    return await start.runStores(message, () => (message.around ?? call)(run));
  } catch (thrown) {
    message.error = definedError(thrown);
    error.publish(message);
    throw thrown;
  } finally {
    asyncEnd.publish(message);
  }
}

/** Replaces a thrown `undefined`, because work without an error has succeeded. */
export function definedError(thrown: unknown): unknown {
  return thrown === undefined ? "undefined" : thrown;
}

function call<T>(work: () => T): T {
  return work();
}

export type Listeners = {
  readonly [K in keyof ChannelMessages]?: (message: ChannelMessages[K]) => unknown;
};

/**
 * Subscribes to one bot's messages. Ignores a listener's errors, because the publisher may be in the middle of a
 * response.
 *
 * @returns a function that unsubscribes
 */
export function subscribe(bot: object, listeners: Listeners): () => void {
  const all: [string, (message: never) => void][] = Object.entries(listeners);
  const ends = all.map(([name, listener]) => {
    const receive = (message: unknown) => {
      if ((message as BotMessage).bot !== bot) return;
      try {
        listener(message as never);
      } catch {
        // Node would end the process, even for a broken logger.
      }
    };
    const subscribed = channel(PREFIX + name);
    subscribed.subscribe(receive);
    return () => void subscribed.unsubscribe(receive);
  });
  return () => {
    for (const end of ends) end();
  };
}
