import { runWords } from "../../../../timeline/words.ts";
import type { EventTrace, RunEntry, TimelineEntry } from "../../../../types.ts";
import { control } from "../../../api/control.ts";
import { addressOf } from "../../../live/route.ts";
import { useLive } from "../../../live/use-live.ts";
import { Badge, Code } from "../../../parts/bits.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Actions } from "../actions/actions.tsx";
import { type EventOutcome, eventIdsOf, outcomeOf } from "../index-of.ts";
import { markOfEvent, markOfRun } from "../lines.ts";
import { index } from "../store.ts";
import { CallItem, DeliveryItem } from "./items.tsx";
import { Loaded } from "./loaded.tsx";
import { Moment } from "./parts.tsx";

/** An event, what was tried to bring it to the bot, and what the bot did because of it. */
export function EventDetails({ id }: { readonly id: string }) {
  const concerns = (entry: TimelineEntry) =>
    entry.kind === "state" || eventIdsOf(entry).includes(id);
  const live = useLive(() => control.event(id), { key: id, concerns });
  return <Loaded live={live}>{(detail) => <Event detail={detail} />}</Loaded>;
}

function Event({ detail }: { readonly detail: EventTrace }) {
  const { event, bot, deliveries, calls, runs } = detail;
  const read = index.value.get(event.id)?.outcome === "read";
  const outcome = outcomeOf(deliveries, read);
  const run = runs.at(-1);
  const { tone, text } = run === undefined ? markOfEvent(outcome) : markOfRun(run);
  return (
    <>
      <Facts
        of={[
          ["Outcome", <Badge tone={tone}>{text}</Badge>],
          ["Type", <span class="mono">{event.type}</span>],
          ["Happened", <Moment at={event.createdAt} />],
          ["For", `@${bot}`],
        ]}
      />
      <Actions
        what={{ eventIds: [event.id] }}
        bot={bot}
        fixture={{ event, calls, handled: outcome === "delivered" || outcome === "read" }}
      />
      <h3>Payload</h3>
      <Code text={JSON.stringify(event.payload)} label={`Payload of ${event.id}`} />
      <h3>Deliveries ({deliveries.length})</h3>
      {deliveries.length === 0 && <NotDelivered outcome={outcome} />}
      <ol class="items">
        {deliveries.map((delivery) => (
          <DeliveryItem key={delivery.id} delivery={delivery} />
        ))}
      </ol>
      {runs.length > 0 && <h3>Runs ({runs.length})</h3>}
      {runs.map((each) => (
        <RunItem key={each.seq} run={each} />
      ))}
      <h3>API calls because of it ({calls.length})</h3>
      {calls.length === 0 && (
        <p class="hint">
          None on record. The newest 1,000 calls are kept, until the platform stops.
        </p>
      )}
      <ol class="items">
        {calls.map((call) => (
          <CallItem key={call.id} call={call} />
        ))}
      </ol>
    </>
  );
}

/** One run of the bot's handlers, as the bot has reported it. */
function RunItem({ run }: { readonly run: RunEntry }) {
  return (
    <>
      <p>{runWords(run)}</p>
      {run.error?.stack && (
        <Code text={run.error.stack} label={`Stack of attempt ${run.attempt}`} />
      )}
    </>
  );
}

function NotDelivered({ outcome }: { readonly outcome: EventOutcome }) {
  if (outcome === "read") {
    return <p class="hint">None: the bot read it from the log of events, by polling.</p>;
  }
  return (
    <p class="hint">
      None so far. Is the <a href={addressOf("webhook")}>webhook</a> on, and does it take this type?
      Without one, the bot reads it by polling.
    </p>
  );
}
