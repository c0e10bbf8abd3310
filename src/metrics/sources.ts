import type { Client } from "../client/client.ts";
import type { Clock } from "../core/clock.ts";
import type { Inbox } from "../inbox/inbox.ts";
import type { Poller } from "../poller/poller.ts";
import type { Receiver } from "../receiver/receive.ts";

/** What is looked at when somebody asks for the metrics. */
export interface Sources {
  readonly clock: Clock;
  /** The system's time, by which signatures are dated. */
  readonly wall: Clock;
  /** When the bot was started, on `clock`. */
  readonly startedAt: number;
  /** Whether it has started and does not stop. */
  readonly isStarted: () => boolean;
  readonly inbox: Pick<Inbox, "measure" | "shared" | "capabilities">;
  readonly client: Pick<Client, "requests" | "platformNow">;
  readonly receiver: Pick<Receiver, "lastDeliveryAt">;
  readonly dispatcher: { readonly running: number };
  /** Undefined where the event log is never read. */
  readonly poller: Pick<Poller, "status" | "leads"> | undefined;
  readonly settings: Settings;
}

/** What of the configuration is told. */
export interface Settings {
  readonly delivery: string;
  readonly store: string;
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  readonly auditIntervalMs: number;
}
