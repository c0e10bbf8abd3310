/**
 * Channels of `node:diagnostics_channel` on which a bot's parts publish what the bot does. The log, the metrics, the
 * spans and the report to a local platform subscribe to them. An application can subscribe as well. A channel without
 * subscribers costs nothing.
 */
import { channel, type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { ShownError } from "../core/safe-text.ts";

/** The `Bot` that a message is about, or a standalone `Client`. `undefined` for a part that belongs to neither. */
export interface BotMessage {
  readonly bot: object | undefined;
}

export const runOutcomes = ["done", "retry", "release", "dead", "lost", "skipped"] as const;
/**
 * Outcomes of a run. `lost`: another instance has the event. `skipped`: returned to its lane before the handlers
 * started.
 */
export type RunOutcome = (typeof runOutcomes)[number];

export const leaseLosses = ["run", "result", "log"] as const;
/** How a lost lease was detected: during a `run`, when recording its `result`, or by the reader of the event `log`. */
export type LeaseLoss = (typeof leaseLosses)[number];

export const storeFailures = ["disk_low", "disk_full", "locked", "away", "broken"] as const;
/** Store failures. `disk_low`: new events are refused because little space is free. */
export type StoreFailure = (typeof storeFailures)[number];

export const stepOutcomes = ["made", "recorded", "found", "elsewhere"] as const;
/**
 * Outcomes of a step. `made`: by this run. `recorded`: an earlier run recorded its result. `found`: an earlier run made
 * the effect without recording it. `elsewhere`: another event of the same subject has the reply.
 */
export type StepOutcome = (typeof stepOutcomes)[number];

/** A batch of events that the inbox stored. */
export interface BatchMessage extends BotMessage {
  /** Source of the events. */
  readonly source: "webhook" | "poll";
  /** The whole batch. */
  readonly events: readonly { readonly id: string; readonly type: string }[];
  /** The new events' ids. */
  readonly stored: readonly string[];
  readonly duplicates: number;
  /** New events that cannot be handled and were stored as dead letters. */
  readonly unusable: number;
  /** Id of the trace stored with the events. */
  readonly trace: string | undefined;
}

/** Messages about requests, with the event whose handler made the request. */
interface RequestMessage extends BotMessage {
  readonly event?: string | undefined;
  readonly trace?: string | undefined;
}

/** Messages about one event. */
export interface EventMessage extends BotMessage {
  /** Id of the event. */
  readonly event: string;
  readonly type: string;
  readonly lane: string;
  /** Number of the run, starting at 1. */
  readonly attempt: number;
  /** Id of the event's trace; `undefined` if it was stored without one. */
  readonly trace: string | undefined;
}

/** Each channel's message, by the channel's name after `service-bot:`. Times are in ms. */
export interface ChannelMessages {
  /** Events were stored, from the webhook or from the event log. */
  readonly batch: BatchMessage;
  /** A webhook delivery got its response. */
  readonly delivery: BotMessage & {
    /** HTTP status of the response. */
    readonly status: number;
    /** Error code in the response. */
    readonly code?: string | undefined;
    /** Error message in the response. */
    readonly reason?: string | undefined;
    /** From the last byte of the body to the response; absent if the signature was invalid. */
    readonly ms?: number | undefined;
    /** Absent unless the batch was stored. */
    readonly batch?: BatchMessage | undefined;
    /** Error if the batch could not be stored. */
    readonly error?: unknown;
    readonly trace?: string | undefined;
  };
  /** The event log was read to its end, or the read failed with `code`. */
  readonly poll: BotMessage & {
    readonly code: string | undefined;
    /** Absent if the log could not be read; false if the reader gave up on pages without events. */
    readonly atEnd?: boolean;
    /** Error if the log could not be read. */
    readonly error?: unknown;
    /** Time until the next try. */
    readonly retryInMs?: number;
    /** How the missing log affects the bot, for a human reader; set if the token may not read the log. */
    readonly meanwhile?: string | undefined;
  };
  /** Polling took over from the webhook (`polling`) or handed back (`auditing`). */
  readonly mode: BotMessage & { readonly mode: "auditing" | "polling"; readonly reason: string };
  /** Another instance took over the lease of a run or of the event log. `term` is set only for the log. */
  readonly "lease-lost": BotMessage & {
    readonly what: LeaseLoss;
    readonly term?: number | undefined;
  };
  /** A run of an event's handlers ended, and its outcome is stored. */
  readonly run: EventMessage & {
    readonly outcome: RunOutcome;
    readonly ms: number;
    /** Time until the next run; absent if there is none. */
    readonly retryInMs?: number | undefined;
    /** Error from a failed run, without secrets or users' texts. */
    readonly error?: ShownError | undefined;
    /** Conversation of the event. */
    readonly conversationId?: string;
    /** Post of the event. */
    readonly postId?: string;
    /** True if the loop guard held the event back. */
    readonly isLoopHeld?: boolean;
  };
  /** A handler's step has its result. */
  readonly step: EventMessage & {
    readonly step: string;
    readonly outcome: StepOutcome;
    /** Platform id of the written message, comment or post. */
    readonly ref: string | undefined;
  };
  /** One request to the platform ended. */
  readonly request: RequestMessage & {
    readonly method: string;
    /** Path below `/api/v1`, without the query. */
    readonly path: string;
    /** Method and path template, such as `POST /posts/{id}/comments`. */
    readonly operation: string;
    /** HTTP status; `undefined` without a response. */
    readonly status: number | undefined;
    /** Error code; absent if the request succeeded or the caller gave up. */
    readonly code?: string | undefined;
    readonly ms: number;
  };
  /** A request was not sent because the platform is down or the budget is spent. */
  readonly "held-back": BotMessage & { readonly code: string };
  /** Requests of one kind start to wait for the budget; at most one message per minute. */
  readonly "budget-wait": RequestMessage & { readonly kind: string; readonly perMinute: number };
  /** The bot starts or stops holding back requests. */
  readonly circuit: RequestMessage & {
    /** `platform`, `token`, or an operation such as `POST /posts`. */
    readonly of: string;
    readonly why: "outages" | "quota" | "token";
    /** True while requests are held back. */
    readonly open: boolean;
    /** Time until the bot tries the platform again. */
    readonly retryInMs: number;
    /** Response that refused the token. */
    readonly error?: (Error & { readonly status: number }) | undefined;
  };
  /** A store transaction ended, committed or not. */
  readonly transaction: BotMessage & { readonly ms: number };
  readonly "store-failure": BotMessage & { readonly reason: StoreFailure };
}

/** Work that may contain other work. The publisher completes the message at the end. */
interface WorkMessage extends BotMessage {
  /** Trace of the work; a subscriber to `start` may replace it. */
  trace?: string | undefined;
  /** Error, if the work failed. */
  error?: unknown;
  /** Set by a subscriber to `start` to run the work in its own async context. */
  around?: <T>(work: () => T) => T;
}

/** Each tracing channel's message, by the channel's name after `service-bot:`. */
export interface WorkMessages {
  /** A delivery, from the signature check to the response. */
  readonly delivery: WorkMessage & { status?: number; batch?: BatchMessage };
  /** A transaction that stores pages of the event log. */
  readonly page: WorkMessage & { batch?: BatchMessage };
  /** One run of an event's handlers. `trace` is the stored trace, with its span. */
  readonly run: WorkMessage &
    Omit<EventMessage, "trace"> & {
      readonly source: "webhook" | "poll";
      readonly late: boolean;
      outcome?: RunOutcome;
    };
  readonly step: WorkMessage & { readonly step: string; outcome?: StepOutcome };
  /** One attempt of a request to the platform. */
  readonly request: WorkMessage & {
    readonly method: string;
    /** Path template, such as `/posts/{id}`. */
    readonly template: string;
    readonly baseUrl: string;
    /** Handlers send `read` and `write`; `audit` and `poll` read the event log. */
    readonly kind: string;
    /** Number of the attempt, starting at 1. */
    readonly number: number;
    status?: number;
  };
}

/** A channel as publishers use it. They check `hasSubscribers` before they build a message. */
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
    transaction: channel(`${PREFIX}transaction`),
    "store-failure": channel(`${PREFIX}store-failure`),
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
 * Runs work and publishes its start, error and end (`asyncEnd`) on a tracing channel. Results are not published because
 * they contain users' texts.
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
    message.error = thrown;
    error.publish(message);
    throw thrown;
  } finally {
    asyncEnd.publish(message);
  }
}

function call<T>(work: () => T): T {
  return work();
}

/** Listeners by channel. */
export type Listeners = {
  readonly [K in keyof ChannelMessages]?: (message: ChannelMessages[K]) => unknown;
};

/**
 * Subscribes to one bot's messages. A listener's errors are ignored, because the publisher may be in the middle of a
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
        // Node would end the process, but a broken logger is no reason to.
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
