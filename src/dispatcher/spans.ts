import { spanIn, traceIdOf } from "../core/trace.ts";
import type { Span, SpanStart } from "../core/tracing.ts";
import type { Claim } from "../inbox/inbox.ts";
import { messaging } from "../inbox/span-attributes.ts";
import type { Outcome } from "./outcome.ts";

/** A run of the handlers for an event, below what has stored it: in this process, in one before it, or in another one. */
export function processSpan(claim: Claim): SpanStart {
  const { id, type, lane, attempt, source, late, trace } = claim;
  return {
    name: `process ${type}`,
    kind: "consumer",
    parent: trace,
    detached: true,
    attributes: {
      ...messaging("process", "process"),
      "messaging.message.id": id,
      "service_bot.event.type": type,
      "service_bot.lane": lane,
      "service_bot.attempt": attempt,
      "service_bot.source": source,
      "service_bot.late": late,
      // Nobody traced when it was stored, and this is a trace of its own: the log has it by this id.
      "service_bot.trace": spanIn(trace) === undefined ? traceIdOf(trace) : undefined,
    },
  };
}

/** What a run is said to have come to, as the history of the event has it. */
const outcomes: Readonly<Record<Outcome["kind"], string>> = {
  done: "done",
  retry: "failed",
  release: "released",
  dead: "dead",
  skipped: "unbegun",
  lost: "lost",
};

/** Ends the span of a run with its outcome. */
export function endSpan(span: Span, outcome: Outcome): void {
  if (outcome.kind === "skipped") {
    span.forget();
    return;
  }
  span.set({ "service_bot.outcome": outcomes[outcome.kind] });
  // An event that is put off was not at fault; the span of the fault, below this one, says so.
  if (outcome.kind === "retry" || outcome.kind === "dead") span.fail(outcome.error);
}
