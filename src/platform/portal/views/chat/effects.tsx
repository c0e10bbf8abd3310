import { addressOf } from "../../live/route.ts";
import { Empty, Time } from "../../parts/bits.tsx";
import { overview } from "../events/store.ts";
import { actOf, outcomeOf, type Story } from "../events/stories.ts";
import { Trace } from "../events/trace.tsx";
import { Kept } from "./kept.tsx";

/** Events that are listed. The Events view has all of them. */
const SHOWN = 8;

export interface EffectsProps {
  /** A conversation, or all posts. `undefined` for a conversation that has not begun. */
  readonly of: string | undefined;
}

/** What a conversation caused: its events with deliveries, runs and requests, the newest open. */
export function Effects({ of }: EffectsProps) {
  const stories = [...overview.value.stories.values()]
    .filter(({ event }) => isOf(event, of))
    .toReversed()
    .slice(0, SHOWN);
  return (
    <section class="effects" aria-label="What it caused">
      <h2>What it caused</h2>
      {stories.length === 0 && (
        <Empty title="No events yet">
          <p>The event of a message, the run of the handler and the requests of the bot.</p>
        </Empty>
      )}
      {stories.map((story, index) => (
        <Effect key={story.event.id} story={story} isNewest={index === 0} />
      ))}
      {of !== undefined && of !== "posts" && <Kept of={of} />}
    </section>
  );
}

function isOf(event: Story["event"], of: string | undefined): boolean {
  if (of === "posts") return event.conversationId === undefined;
  return of !== undefined && event.conversationId === of;
}

function Effect({ story, isNewest }: { readonly story: Story; readonly isNewest: boolean }) {
  const { event } = story;
  const { tone, text } = outcomeOf(story, overview.value);
  return (
    <article class="effect">
      <a class="plain" href={addressOf("events", event.id)}>
        <strong>@{event.from}</strong> {actOf(event)} <Time at={event.at} />
      </a>
      <p class={tone === "plain" ? "hint" : tone}>{text}</p>
      {isNewest && <Trace id={event.id} isBrief />}
    </article>
  );
}
