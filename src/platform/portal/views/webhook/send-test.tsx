import { useState } from "preact/hooks";
import type { AppView, EventType } from "../../../types.ts";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { entries } from "../../live/stream.ts";
import { Badge } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { actAsPerson } from "../../shell/act-keys.ts";
import { eventTypes } from "./event-types.ts";
import { whyNotSent } from "./health.ts";
import { outcomeOf } from "./outcome.ts";

interface Sent {
  readonly id: string;
  readonly type: EventType;
}

/** How many tests are shown. */
const SHOWN = 5;

/** Makes an event of each type happen, and shows what becomes of it. */
export function SendTest({ app }: { readonly app: AppView }) {
  const [sent, setSent] = useState<readonly Sent[]>([]);
  const test = async (type: EventType) => {
    const { events } = await actAsPerson(type);
    const made = events.map(({ id }) => ({ id, type }));
    setSent((before) => [...made.reverse(), ...before].slice(0, SHOWN));
  };
  return (
    <section class="card" aria-labelledby="webhook-test">
      <h2 id="webhook-test">Send a test event</h2>
      <p class="hint">Done as @{person.value}; choose another one above.</p>
      <div class="row webhook-tests">
        {eventTypes.map(({ type, when }) => (
          <Action
            key={type}
            title={when}
            label={`Send a test event of type ${type}`}
            run={() => test(type)}
          >
            {type}
          </Action>
        ))}
      </div>
      <div role="log" aria-label="What became of the test events">
        {sent.length > 0 && (
          <ul class="list">
            {sent.map((each) => (
              <SentLine key={each.id} sent={each} app={app} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function SentLine({ sent: { id, type }, app }: { readonly sent: Sent; readonly app: AppView }) {
  const outcome = outcomeOf(entries.value, id, app.bot.username);
  const why = outcome === undefined ? whyNotSent(app.webhook, app.disabled, type) : undefined;
  return (
    <li>
      <a href={addressOf("events", id)}>{id}</a>
      <code>{type}</code>
      <span class="grow">
        {outcome !== undefined ? (
          <Badge tone={outcome.tone}>{outcome.text}</Badge>
        ) : (
          (why ?? "on its way…")
        )}
      </span>
    </li>
  );
}
