import type { Attributes } from "../core/tracing.ts";
import type { PutResult } from "./inbox.ts";

/** What spans of work on messages say, by the conventions of OpenTelemetry. */
export function messaging(operation: string, type: "receive" | "process"): Attributes {
  return {
    "messaging.system": "service_bot",
    "messaging.operation.name": operation,
    "messaging.operation.type": type,
  };
}

/** What became of a batch. */
export function batchAttributes(events: number, result: PutResult): Attributes {
  return {
    "messaging.batch.message_count": events,
    "service_bot.stored": result.stored.length,
    "service_bot.duplicates": result.duplicates,
    "service_bot.unusable": result.unusable,
  };
}
