import { useRef } from "preact/hooks";
import type { AuthorView, ControlConversation, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { usePeople } from "../../live/use-people.ts";
import { BotLabel, Empty } from "../../parts/bits.tsx";
import { Icon } from "../../parts/icon.tsx";
import { overview } from "../events/store.ts";
import { outcomeOf } from "../events/stories.ts";
import { Log } from "./log.tsx";
import { rolesIn } from "./roles.ts";
import { useMessages } from "./use-messages.ts";

export interface PaneProps {
  /** `undefined` for a conversation that has not begun. */
  readonly id: string | undefined;
  readonly conversation: ControlConversation | undefined;
  readonly bot: Profile;
  /** True when the composer is to take the focus. */
  readonly wanted: boolean;
  readonly onFocused: () => void;
  /** Called after a message was sent. */
  readonly onSent: () => Promise<void>;
}

/** An open conversation. */
export function Pane({ id, conversation, bot, wanted, onFocused, onSent }: PaneProps) {
  const atEnd = useRef(true);
  const messages = useMessages(id, atEnd);
  const { people } = usePeople();
  const members = conversation?.members ?? newMembers(people, bot);
  const group = conversation?.group === true;
  const roles = rolesIn({ group, members }, bot.username);
  const own = roles.from ?? person.value;
  const name = members.map(({ username }) => `@${username}`).join(", ");
  const isWaiting = roles.from !== undefined && messages.data?.at(-1)?.authorUsername === own;
  return (
    <section class="pane drop-zone" aria-label={`Conversation: ${name}`}>
      <PaneHead members={members} group={group} />
      {id === undefined ? (
        <Empty title="No messages yet">
          <p>
            Write to @{bot.username}: it gets a <code>dm.message</code> event, and its answer
            appears here.
          </p>
        </Empty>
      ) : (
        <Log messages={messages} atEnd={atEnd} own={own} name={name} />
      )}
      <p role="status" class="waiting">
        {isWaiting && id !== undefined && <Waiting conversationId={id} from={own} />}
      </p>
      {roles.from === undefined ? (
        <p class="note">{roles.closed}</p>
      ) : (
        <Composer
          key={`${roles.from} ${roles.to}`}
          label={`Message to @${roles.to} as @${roles.from}`}
          send="Send"
          placeholder={`Message @${roles.to}`}
          from={roles.from}
          wanted={wanted}
          onFocused={onFocused}
          onSend={async (draft) => {
            const where = id === undefined ? {} : { conversationId: id };
            await control.act({ type: "dm.message", ...roles, ...where, ...draft });
            atEnd.current = true;
            await Promise.all([messages.reload(), onSent()]);
          }}
        />
      )}
    </section>
  );
}

function newMembers(people: readonly Profile[], bot: Profile): readonly AuthorView[] {
  const username = person.value;
  const { name = username } = people.find((each) => each.username === username) ?? {};
  return [
    { username, name, isBot: false },
    { ...bot, isBot: true },
  ];
}

function PaneHead({ members, group }: Pick<ControlConversation, "members" | "group">) {
  return (
    <header class="pane-head">
      <a class="back" href="#/chat/list" aria-label="Conversations">
        <Icon name="back" />
      </a>
      <h2>
        {peopleFirst(members).map(({ username, name, isBot }) => (
          <span key={username}>
            {name} <span class="hint">@{username}</span> {isBot && <BotLabel />}
          </span>
        ))}
      </h2>
      {group && <span class="badge">group</span>}
    </header>
  );
}

function peopleFirst(members: readonly AuthorView[]): readonly AuthorView[] {
  return members.toSorted((one, other) => Number(one.isBot) - Number(other.isBot));
}

interface WaitingProps {
  readonly conversationId: string;
  readonly from: string;
}

/** What became of the last message, as long as it has no answer. */
function Waiting({ conversationId, from }: WaitingProps) {
  const story = [...overview.value.stories.values()].findLast(
    ({ event }) => event.conversationId === conversationId && event.from === from,
  );
  if (story === undefined) return null;
  const { tone, text } = outcomeOf(story, overview.value);
  return (
    <a class={`badge ${tone}`} href={addressOf("events", story.event.id)}>
      {text}
    </a>
  );
}
