import { computed, signal } from "@preact/signals";
import { Empty } from "../../parts/bits.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { isTrouble, outcomeOf } from "../events/outcomes.ts";
import { Row } from "../events/row.tsx";
import { overview } from "../events/store.ts";
import { isOwn, keyOfEvent, type Story } from "../events/stories.ts";
import { ConversationData } from "./conversation-data.tsx";

/** The Events view lists all events. */
const LISTED = 8;

/**
 * Key of the event whose trace is open, or `undefined` for the newest event. On a narrow screen, the activity is
 * visible only while a key is set.
 */
export const traced = signal<string>();

/** Maps each message, post and comment to the event that it caused, or to the event that the bot replied to with it. */
const storyOf = computed(() => {
  const found = new Map<string | undefined, Story>();
  for (const story of overview.value.stories.values()) {
    found.set(story.event.contentId, story);
    for (const part of story.parts) {
      if (part.kind !== "api") continue;
      const { messageId, commentId, postId } = part.created ?? {};
      found.set(messageId ?? commentId ?? postId, story);
    }
  }
  return found;
});

const newestIn = computed(
  () => new Map([...overview.value.stories.values()].map((story) => [paneOf(story.event), story])),
);

/** Returns whether the newest event of a conversation, or of all posts, has failed. */
export function isFailing(pane: string): boolean {
  const newest = newestIn.value.get(pane);
  return newest !== undefined && isTrouble(newest, overview.value);
}

export function trace(contentId: string | undefined): void {
  const story = contentId === undefined ? undefined : storyOf.peek().get(contentId);
  if (story !== undefined) traced.value = keyOfEvent(story.event);
}

export function ActivityButton() {
  return (
    <button
      type="button"
      class="quiet narrow"
      onClick={() => {
        traced.value = "";
      }}
    >
      <Icon name="events" /> Activity
    </button>
  );
}

export interface EventOutcomeProps {
  /** Id of a message, post or comment. */
  readonly of: string;
  /** True for the last message, whose reply may be pending. Other entries show only failures. */
  readonly isLast?: boolean;
}

export function EventOutcome({ of, isLast = false }: EventOutcomeProps) {
  const story = storyOf.value.get(of);
  if (story?.event.contentId !== of) return null;
  const { tone, text } = outcomeOf(story, overview.value);
  if (tone === "plain" && !isLast) return null;
  return (
    <button type="button" class={`outcome ${tone}`} onClick={() => trace(of)}>
      {text}
    </button>
  );
}

export interface ActivityProps {
  /** Conversation id, or "posts". `undefined` if the conversation has no messages yet. */
  readonly of: string | undefined;
}

export function Activity({ of }: ActivityProps) {
  const here = [...overview.value.stories.values()]
    .filter(({ event }) => of !== undefined && paneOf(event) === of)
    .reverse();
  const open = here.find(({ event }) => keyOfEvent(event) === traced.value) ?? here[0];
  const listed = here.filter((story, index) => index < LISTED || story === open);
  return (
    <section class="activity" aria-label="Activity">
      <header class="pane-head">
        <button
          type="button"
          class="quiet narrow"
          aria-label="Back to the messages"
          onClick={() => {
            traced.value = undefined;
          }}
        >
          <Icon name="back" />
        </button>
        <h2>Activity</h2>
      </header>
      <List
        look="event-list"
        empty={
          <Empty title="No events yet">
            <p>Events, handler runs and API requests appear here.</p>
          </Empty>
        }
        items={listed.map((story) => (
          <Row
            key={keyOfEvent(story.event)}
            thing={story}
            isOpen={story === open}
            onOpen={(id) => {
              traced.value = id;
            }}
          />
        ))}
      />
      {of !== undefined && of !== "posts" && <ConversationData of={`dm:${of}`} />}
    </section>
  );
}

/** Returns an event's conversation id, "posts", or `undefined` for a timer or cron without a conversation or post. */
function paneOf({ id, conversationId, postId }: Story["event"]): string | undefined {
  // List a follow with the posts, although it has no post.
  return conversationId ?? (postId !== undefined || !isOwn(id) ? "posts" : undefined);
}
